"""The phenotypes planted in the synthetic records: plausible to a clinician, measured on nobody.

Most are diseases with features in common. One comes back in only some fits, and one is no
disease at all but a template of codes that a clinic filed together: what a reader of results
should learn to tell apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from swiftcore.data.synthetic.ehr_vocabulary import MEN_ONLY, WOMEN_ONLY, diagnosis_label

DISEASE, UNSTABLE, ARTEFACT = "disease", "unstable", "artefact"


@dataclass(frozen=True)
class PlantedPhenotype:
    """One phenotype that the synthetic records are made from.

    Attributes
    ----------
    name : str
        What a clinician would call it.
    diagnoses, medications : dict of str to float
        Its features and how often each is met in a visit for it; each sums to 1.
    outcome_effect : float
        What it adds to the log-odds of heart failure; negative protects.
    frequency : float
        How common it is, relative to the other phenotypes.
    per_decade : float
        How many times as common it is in patients who are ten years older.
    men : float
        How many times as common it is in men as in women.
    role : str
        ``DISEASE``; ``UNSTABLE``, a weak one made of features of others, which only some fits
        find; or ``ARTEFACT``, codes recorded together that mean no disease.
    """

    name: str
    diagnoses: dict[str, float]
    medications: dict[str, float]
    outcome_effect: float
    frequency: float = 1.0
    per_decade: float = 1.0
    men: float = 1.0
    role: str = DISEASE

    @property
    def patients(self) -> str:
        """Who can have it: ``"women"``, ``"men"`` or ``"all"``."""
        features = {*self.diagnoses, *self.medications}
        if features & WOMEN_ONLY:
            return "women"
        return "men" if features & MEN_ONLY else "all"


def _phenotype(
    name: str,
    diagnoses: Mapping[int, float],
    medications: Mapping[str, float],
    outcome_effect: float = 0.0,
    role: str = DISEASE,
    **who: float,
) -> PlantedPhenotype:
    """A phenotype from parts: whole numbers that say which feature outweighs which."""
    all_diagnoses, all_medications = sum(diagnoses.values()), sum(medications.values())
    return PlantedPhenotype(
        name,
        {diagnosis_label(ccs): parts / all_diagnoses for ccs, parts in diagnoses.items()},
        {drug: parts / all_medications for drug, parts in medications.items()},
        outcome_effect,
        role=role,
        **who,
    )


PHENOTYPES: tuple[PlantedPhenotype, ...] = (
    _phenotype(
        "Atrial fibrillation",
        {106: 8, 98: 5, 96: 4, 53: 3, 105: 3, 245: 2, 112: 2},
        {
            "Coumarin Anticoagulants": 6,
            "Beta Blockers Cardio-Selective": 5,
            "Direct Factor Xa Inhibitors": 4,
            "Cardiac Glycosides": 4,
            "Calcium Channel Blockers": 3,
            "Alpha-Beta Blockers": 3,
            "Antiarrhythmics Type III": 3,
            "Loop Diuretics": 2,
        },
        outcome_effect=1.7,
        frequency=0.8,
        per_decade=1.6,
        men=1.3,
    ),
    _phenotype(
        "Cardiometabolic disease",
        {49: 8, 98: 5, 53: 5, 58: 4, 50: 3, 256: 2},
        {
            "Biguanides": 7,
            "Diagnostic Tests": 4,
            "Diabetic Supplies": 5,
            "Sulfonylureas": 4,
            "HMG CoA Reductase Inhibitors": 4,
            "ACE Inhibitors": 4,
            "Insulin": 3,
            "Dipeptidyl Peptidase-4 (DPP-4) Inhibitors": 2,
        },
        outcome_effect=0.3,
        frequency=1.6,
        per_decade=1.1,
        men=1.2,
    ),
    _phenotype(
        "Mental disorder",
        {651: 7, 657: 7, 252: 4, 84: 3, 650: 3, 663: 2},
        {
            "Selective Serotonin Reuptake Inhibitors (SSRIs)": 7,
            "Benzodiazepines": 6,
            "Serotonin Modulators": 4,
            "Antidepressants - Misc.": 4,
            "Serotonin-Norepinephrine Reuptake Inhibitors (SNRIs)": 3,
            "Non-Barbiturate Hypnotics": 3,
        },
        outcome_effect=-1.3,
        frequency=1.2,
        per_decade=0.75,
        men=0.6,
    ),
    _phenotype(
        "Chronic kidney disease",
        {158: 7, 99: 5, 55: 4, 59: 4, 50: 3, 161: 3, 98: 3, 54: 2},
        {
            "Loop Diuretics": 5,
            "ACE Inhibitors": 4,
            "Phosphate Binder Agents": 4,
            "Hematopoietic Growth Factors": 3,
            "Iron": 3,
            "Gout Agents": 3,
            "Calcium Channel Blockers": 3,
            "Oil Soluble Vitamins": 2,
            "Insulin": 2,
        },
        outcome_effect=1.5,
        frequency=0.7,
        per_decade=1.4,
        men=1.2,
    ),
    _phenotype(
        "Coronary artery disease",
        {101: 8, 102: 5, 53: 5, 98: 4, 100: 3, 114: 3, 110: 2},
        {
            "HMG CoA Reductase Inhibitors": 6,
            "Platelet Aggregation Inhibitors": 6,
            "Nitrates": 5,
            "Beta Blockers Cardio-Selective": 5,
            "Salicylates": 4,
            "ACE Inhibitors": 4,
            "Intestinal Cholesterol Absorption Inhibitors": 2,
        },
        outcome_effect=1.6,
        frequency=0.9,
        per_decade=1.4,
        men=1.8,
    ),
    _phenotype(
        "Chronic lung disease",
        {127: 7, 128: 6, 125: 4, 133: 4, 134: 2, 122: 2},
        {
            "Sympathomimetics": 7,
            "Steroid Inhalants": 5,
            "Bronchodilators - Anticholinergics": 5,
            "Glucocorticosteroids": 4,
            "Leukotriene Modulators": 3,
            "Azithromycin": 3,
            "Antitussives": 2,
        },
        outcome_effect=0.2,
        frequency=0.9,
        per_decade=1.1,
    ),
    _phenotype(
        "Aging and frailty",
        {159: 7, 163: 5, 653: 4, 212: 4, 93: 3, 206: 3, 199: 2, 231: 2},
        {
            "Urinary Anti-infectives": 5,
            "Fluoroquinolones": 4,
            "Anti-infective Misc. - Combinations": 4,
            "Antidementia Agents": 4,
            "Urinary Antispasmodics": 3,
            "Laxatives - Miscellaneous": 3,
            "Calcium": 3,
            "Oil Soluble Vitamins": 2,
            "Surfactant Laxatives": 2,
        },
        outcome_effect=0.0,
        frequency=0.6,
        per_decade=2.0,
        men=0.8,
    ),
    _phenotype(
        "Thyroid dysfunction",
        {48: 9, 53: 4, 252: 3, 51: 3, 52: 2},
        {
            "Thyroid Hormones": 9,
            "Antithyroid Agents": 3,
            "Beta Blockers Non-Selective": 3,
            "Cobalamins": 2,
            "Oil Soluble Vitamins": 2,
        },
        outcome_effect=0.0,
        frequency=0.8,
        men=0.3,
    ),
    _phenotype(
        "Arthritis and chronic pain",
        {205: 7, 203: 6, 211: 5, 204: 4, 95: 3, 208: 1},
        {
            "Nonsteroidal Anti-inflammatory Agents (NSAIDs)": 6,
            "Opioid Combinations": 6,
            "Central Muscle Relaxants": 5,
            "Anticonvulsants - Misc.": 4,
            "Opioid Agonists": 3,
            "Local Anesthetics - Topical": 3,
        },
        outcome_effect=0.0,
        frequency=1.4,
        per_decade=1.1,
    ),
    _phenotype(
        "Menopause and osteoporosis",
        {173: 7, 206: 6, 175: 4, 167: 3, 212: 3},
        {
            "Estrogens": 5,
            "Bone Density Regulators": 5,
            "Calcium": 4,
            "Oil Soluble Vitamins": 4,
            "Progestins": 3,
            "Vaginal Estrogens": 3,
        },
        outcome_effect=-0.2,
        frequency=1.5,
        per_decade=0.9,
    ),
    _phenotype(
        "Anemia and fatigue",
        {59: 5, 252: 5, 52: 4, 58: 3, 93: 2},
        {
            "Iron": 5,
            "Cobalamins": 5,
            "Folic Acid/Folates": 4,
            "Oil Soluble Vitamins": 3,
            "Proton Pump Inhibitors": 2,
        },
        outcome_effect=0.2,
        role=UNSTABLE,
        frequency=0.37,
    ),
    _phenotype(
        "Check-up template",
        {256: 1, 10: 1, 258: 1, 663: 1},
        {
            "Viral Vaccines": 1,
            "Bacterial Vaccines": 1,
            "Diagnostic Tests": 1,
        },
        outcome_effect=0.0,
        role=ARTEFACT,
    ),
    _phenotype(
        "Gastroesophageal disease",
        {138: 7, 251: 4, 155: 4, 140: 4, 141: 3, 250: 2, 143: 2},
        {
            "Proton Pump Inhibitors": 8,
            "H-2 Antagonists": 5,
            "Antispasmodics": 3,
            "Gastrointestinal Stimulants": 3,
            "Antiemetics - Miscellaneous": 3,
            "Misc. Anti-Ulcer": 2,
        },
        outcome_effect=0.0,
        frequency=1.1,
    ),
    _phenotype(
        "Allergy and upper airways",
        {126: 7, 134: 6, 253: 5, 92: 3, 128: 2, 91: 2},
        {
            "Nasal Steroids": 6,
            "Antihistamines - Non-Sedating": 6,
            "Aminopenicillins": 4,
            "Azithromycin": 3,
            "Cough/Cold/Allergy Combinations": 3,
            "Antihistamines - Sedating": 2,
        },
        outcome_effect=-1.0,
        frequency=1.0,
        per_decade=0.8,
    ),
    _phenotype(
        "Prostate and bladder disease",
        {164: 8, 163: 5, 166: 4, 162: 3, 160: 2},
        {
            "Prostatic Hypertrophy Agents": 7,
            "Antiadrenergic Antihypertensives": 4,
            "Impotence Agents": 4,
            "Urinary Antispasmodics": 3,
            "Fluoroquinolones": 2,
        },
        outcome_effect=0.2,
        frequency=1.0,
        per_decade=1.5,
    ),
    _phenotype(
        "Hypertension",
        {98: 10, 256: 4, 117: 3, 53: 2, 258: 2},
        {
            "Thiazides and Thiazide-Like Diuretics": 6,
            "Antihypertensive Combinations": 5,
            "Angiotensin II Receptor Antagonists": 5,
            "ACE Inhibitors": 3,
            "Potassium": 3,
            "Calcium Channel Blockers": 2,
        },
        outcome_effect=0.4,
        frequency=1.4,
        per_decade=1.2,
    ),
    _phenotype(
        "Skin disease",
        {200: 7, 198: 6, 197: 4, 4: 4, 23: 2},
        {
            "Corticosteroids - Topical": 7,
            "Antifungals - Topical": 4,
            "Antibiotics - Topical": 4,
            "Tetracyclines": 3,
            "Acne Products": 2,
            "Cephalosporins - 1st Generation": 2,
        },
        outcome_effect=-0.3,
        frequency=1.0,
    ),
    _phenotype(
        "Cerebrovascular disease",
        {109: 6, 113: 5, 110: 4, 112: 3, 98: 3, 83: 2},
        {
            "Platelet Aggregation Inhibitors": 6,
            "Anticonvulsants - Misc.": 3,
            "Salicylates": 4,
            "HMG CoA Reductase Inhibitors": 4,
            "Antihypertensive Combinations": 3,
        },
        outcome_effect=0.8,
        frequency=0.6,
        per_decade=1.6,
        men=1.2,
    ),
)
"""All planted phenotypes; a data set uses the first few of them."""
