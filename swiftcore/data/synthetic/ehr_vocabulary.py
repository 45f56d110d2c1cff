"""The clinical words of the synthetic records: diagnoses, medications and phenotypes.

Diagnoses are single-level categories of the Clinical Classifications Software (CCS),
published by the U.S. Agency for Healthcare Research and Quality in the public domain.
Category 108, congestive heart failure, is left out on purpose: it is the outcome.
Medications are drug classes under the names pharmacies use for them.

Both lists run from common to rare; the background of the synthetic records follows
that order. The phenotypes are made up: plausible to a clinician, measured on nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

CCS_CATEGORIES: dict[int, str] = {
    98: "Essential hypertension",
    53: "Disorders of lipid metabolism",
    256: "Medical examination/evaluation",
    126: "Other upper respiratory infections",
    10: "Immunizations and screening for infectious disease",
    211: "Other connective tissue disease",
    204: "Other non-traumatic joint disorders",
    205: "Spondylosis; intervertebral disc disorders; other back problems",
    200: "Other skin disorders",
    49: "Diabetes mellitus without complication",
    133: "Other lower respiratory disease",
    252: "Malaise and fatigue",
    251: "Abdominal pain",
    138: "Esophageal disorders",
    651: "Anxiety disorders",
    657: "Mood disorders",
    203: "Osteoarthritis",
    48: "Thyroid disorders",
    102: "Nonspecific chest pain",
    155: "Other gastrointestinal disorders",
    91: "Other eye disorders",
    106: "Cardiac dysrhythmias",
    134: "Other upper respiratory disease",
    159: "Urinary tract infections",
    163: "Genitourinary symptoms and ill-defined conditions",
    232: "Sprains and strains",
    258: "Other screening for suspected conditions (not mental disorders or infectious disease)",
    101: "Coronary atherosclerosis and other heart disease",
    7: "Viral infection",
    95: "Other nervous system disorders",
    197: "Skin and subcutaneous tissue infections",
    198: "Other inflammatory condition of skin",
    84: "Headache; including migraine",
    128: "Asthma",
    127: "Chronic obstructive pulmonary disease and bronchiectasis",
    59: "Deficiency and other anemia",
    58: "Other nutritional; endocrine; and metabolic disorders",
    47: "Other and unspecified benign neoplasm",
    4: "Mycoses",
    125: "Acute bronchitis",
    253: "Allergic reactions",
    93: "Conditions associated with dizziness or vertigo",
    86: "Cataract",
    94: "Other ear and sense organ disorders",
    212: "Other bone disease and musculoskeletal deformities",
    206: "Osteoporosis",
    158: "Chronic kidney disease",
    173: "Menopausal disorders",
    164: "Hyperplasia of prostate",
    117: "Other circulatory disease",
    96: "Heart valve disorders",
    244: "Other injuries and conditions due to external causes",
    89: "Blindness and vision defects",
    92: "Otitis media and related conditions",
    55: "Fluid and electrolyte disorders",
    239: "Superficial injury; contusion",
    175: "Other female genital disorders",
    120: "Hemorrhoids",
    140: "Gastritis and duodenitis",
    146: "Diverticulosis and diverticulitis",
    23: "Other non-epithelial cancer of skin",
    88: "Glaucoma",
    52: "Nutritional deficiencies",
    51: "Other endocrine disorders",
    50: "Diabetes mellitus with complications",
    99: "Hypertension with complications and secondary hypertension",
    114: "Peripheral and visceral atherosclerosis",
    167: "Nonmalignant breast conditions",
    54: "Gout and other crystal arthropathies",
    162: "Other diseases of bladder and urethra",
    161: "Other diseases of kidney and ureters",
    151: "Other liver diseases",
    141: "Other disorders of stomach and duodenum",
    250: "Nausea and vomiting",
    136: "Disorders of teeth and jaw",
    143: "Abdominal hernia",
    105: "Conduction disorders",
    110: "Occlusion or stenosis of precerebral arteries",
    109: "Acute cerebrovascular disease",
    653: "Delirium, dementia, and amnestic and other cognitive disorders",
    245: "Syncope",
    199: "Chronic ulcer of skin",
    160: "Calculus of urinary tract",
    119: "Varicose veins of lower extremity",
    118: "Phlebitis; thrombophlebitis and thromboembolism",
    650: "Adjustment disorders",
    171: "Menstrual disorders",
    122: "Pneumonia (except that caused by tuberculosis or sexually transmitted disease)",
    202: "Rheumatoid arthritis and related disease",
    208: "Acquired foot deformities",
    87: "Retinal detachments; defects; vascular occlusion; and retinopathy",
    149: "Biliary tract disease",
    663: "Screening and history of mental health and substance abuse codes",
    112: "Transient cerebral ischemia",
    100: "Acute myocardial infarction",
    113: "Late effects of cerebrovascular disease",
    111: "Other and ill-defined cerebrovascular disease",
    166: "Other male genital disorders",
    231: "Other fractures",
    156: "Nephritis; nephrosis; renal sclerosis",
    83: "Epilepsy; convulsions",
    660: "Alcohol-related disorders",
    24: "Cancer of breast",
    29: "Cancer of prostate",
    246: "Fever of unknown origin",
    147: "Anal and rectal conditions",
    229: "Fracture of upper limb",
    6: "Hepatitis",
    153: "Gastrointestinal hemorrhage",
    135: "Intestinal infection",
    64: "Other hematologic conditions",
    79: "Parkinson's disease",
}

MEDICATIONS: tuple[str, ...] = (
    "HMG CoA Reductase Inhibitors",
    "Opioid Combinations",
    "ACE Inhibitors",
    "Nonsteroidal Anti-inflammatory Agents (NSAIDs)",
    "Proton Pump Inhibitors",
    "Beta Blockers Cardio-Selective",
    "Aminopenicillins",
    "Azithromycin",
    "Calcium Channel Blockers",
    "Viral Vaccines",
    "Sympathomimetics",
    "Corticosteroids - Topical",
    "Thyroid Hormones",
    "Angiotensin II Receptor Antagonists",
    "Glucocorticosteroids",
    "Selective Serotonin Reuptake Inhibitors (SSRIs)",
    "Benzodiazepines",
    "Fluoroquinolones",
    "Nasal Steroids",
    "Thiazides and Thiazide-Like Diuretics",
    "Biguanides",
    "Central Muscle Relaxants",
    "Antihypertensive Combinations",
    "Oil Soluble Vitamins",
    "Salicylates",
    "Diagnostic Tests",
    "Cough/Cold/Allergy Combinations",
    "Antihistamines - Non-Sedating",
    "Opioid Agonists",
    "Anticonvulsants - Misc.",
    "Cephalosporins - 1st Generation",
    "Non-Barbiturate Hypnotics",
    "Anti-infective Misc. - Combinations",
    "Loop Diuretics",
    "Diabetic Supplies",
    "Antifungals - Topical",
    "H-2 Antagonists",
    "Penicillin Combinations",
    "Potassium",
    "Antivirals - Herpes",
    "Antibiotics - Topical",
    "Impotence Agents",
    "Bacterial Vaccines",
    "Coumarin Anticoagulants",
    "Steroid Inhalants",
    "Urinary Anti-infectives",
    "Platelet Aggregation Inhibitors",
    "Antitussives",
    "Sulfonylureas",
    "Tetracyclines",
    "Bone Density Regulators",
    "Estrogens",
    "Serotonin Modulators",
    "Laxatives - Miscellaneous",
    "Ophthalmic Anti-infectives",
    "Antidepressants - Misc.",
    "Gout Agents",
    "Serotonin-Norepinephrine Reuptake Inhibitors (SNRIs)",
    "Prostatic Hypertrophy Agents",
    "Antihistamines - Sedating",
    "Insulin",
    "Iron",
    "Calcium",
    "Alpha-Beta Blockers",
    "Migraine Products - Selective Agonists",
    "Urinary Antispasmodics",
    "Bronchodilators - Anticholinergics",
    "Leukotriene Modulators",
    "Local Anesthetics - Topical",
    "Nitrates",
    "Vaginal Estrogens",
    "Ophthalmic Steroids",
    "Otic Combinations",
    "Antiemetics - Miscellaneous",
    "Cobalamins",
    "Beta Blockers Non-Selective",
    "Antiadrenergic Antihypertensives",
    "Tricyclic Agents",
    "Progestins",
    "Direct Factor Xa Inhibitors",
    "Antifungals",
    "Fibric Acid Derivatives",
    "Potassium Sparing Diuretics",
    "Folic Acid/Folates",
    "Rectal Steroids",
    "Cardiac Glycosides",
    "Gastrointestinal Stimulants",
    "Antispasmodics",
    "Acne Products",
    "Beta-Blockers - Ophthalmic",
    "Prostaglandins - Ophthalmic",
    "Antiarrhythmics Type III",
    "Antidementia Agents",
    "Surfactant Laxatives",
    "Antirheumatic Antimetabolites",
    "Dipeptidyl Peptidase-4 (DPP-4) Inhibitors",
    "Incretin Mimetic Agents (GLP-1 Receptor Agonists)",
    "Phosphate Binder Agents",
    "Antithyroid Agents",
    "Hematopoietic Growth Factors",
    "Antipsychotics - Misc.",
    "Misc. Anti-Ulcer",
    "Intestinal Cholesterol Absorption Inhibitors",
    "Vasodilators",
    "Antimalarials",
    "Antiparkinson Dopaminergics",
    "Attention-Deficit/Hyperactivity Disorder (ADHD) Agents",
    "Antiasthmatic - Monoclonal Antibodies",
    "Carbonic Anhydrase Inhibitors",
    "Bile Acid Sequestrants",
)


def diagnosis_label(category: int) -> str:
    """Name and number as the paper prints them: ``Essential hypertension [98.]``."""
    # CCS numbers of mental disorders, from 650 on, stand without the dot.
    return f"{CCS_CATEGORIES[category]} [{category}{'.' if category < 650 else ''}]"


DIAGNOSES: tuple[str, ...] = tuple(diagnosis_label(category) for category in CCS_CATEGORIES)

WOMEN_ONLY = frozenset(
    [
        *map(diagnosis_label, (24, 167, 171, 173, 175)),
        "Estrogens",
        "Progestins",
        "Vaginal Estrogens",
    ]
)
MEN_ONLY = frozenset(
    [*map(diagnosis_label, (29, 164, 166)), "Impotence Agents", "Prostatic Hypertrophy Agents"]
)


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
    """

    name: str
    diagnoses: dict[str, float]
    medications: dict[str, float]
    outcome_effect: float
    frequency: float = 1.0

    @property
    def patients(self) -> str:
        """Who can have it: ``"women"``, ``"men"`` or ``"all"``."""
        features = {*self.diagnoses, *self.medications}
        if features & WOMEN_ONLY:
            return "women"
        return "men" if features & MEN_ONLY else "all"


def _phenotype(
    name: str,
    outcome_effect: float,
    frequency: float,
    diagnoses: Mapping[int, float],
    medications: Mapping[str, float],
) -> PlantedPhenotype:
    """A phenotype from parts: whole numbers that say which feature outweighs which."""
    all_diagnoses, all_medications = sum(diagnoses.values()), sum(medications.values())
    return PlantedPhenotype(
        name,
        {diagnosis_label(ccs): parts / all_diagnoses for ccs, parts in diagnoses.items()},
        {drug: parts / all_medications for drug, parts in medications.items()},
        outcome_effect,
        frequency,
    )


PHENOTYPES: tuple[PlantedPhenotype, ...] = (
    _phenotype(
        "Atrial fibrillation",
        1.9,
        0.8,
        {106: 8, 98: 5, 96: 4, 53: 3, 105: 3, 245: 2, 112: 2},
        {
            "Coumarin Anticoagulants": 6,
            "Beta Blockers Cardio-Selective": 5,
            "Direct Factor Xa Inhibitors": 4,
            "Cardiac Glycosides": 4,
            "Calcium Channel Blockers": 4,
            "Alpha-Beta Blockers": 3,
            "Antiarrhythmics Type III": 3,
            "Angiotensin II Receptor Antagonists": 2,
        },
    ),
    _phenotype(
        "Cardiometabolic disease",
        1.1,
        1.5,
        {49: 8, 98: 5, 53: 5, 58: 4, 50: 3, 256: 2},
        {
            "Biguanides": 7,
            "Diagnostic Tests": 5,
            "Diabetic Supplies": 5,
            "Sulfonylureas": 4,
            "HMG CoA Reductase Inhibitors": 3,
            "ACE Inhibitors": 3,
            "Insulin": 3,
            "Dipeptidyl Peptidase-4 (DPP-4) Inhibitors": 2,
        },
    ),
    _phenotype(
        "Mental disorder",
        -1.3,
        1.1,
        {651: 7, 657: 7, 252: 3, 84: 3, 650: 3, 663: 2},
        {
            "Selective Serotonin Reuptake Inhibitors (SSRIs)": 7,
            "Benzodiazepines": 6,
            "Serotonin Modulators": 4,
            "Antidepressants - Misc.": 4,
            "Serotonin-Norepinephrine Reuptake Inhibitors (SNRIs)": 3,
            "Non-Barbiturate Hypnotics": 3,
        },
    ),
    _phenotype(
        "Chronic kidney disease",
        1.5,
        0.6,
        {158: 7, 99: 5, 55: 4, 59: 4, 161: 3, 156: 2, 54: 2},
        {
            "Loop Diuretics": 5,
            "ACE Inhibitors": 4,
            "Phosphate Binder Agents": 4,
            "Hematopoietic Growth Factors": 3,
            "Iron": 3,
            "Gout Agents": 3,
            "Calcium Channel Blockers": 3,
            "Oil Soluble Vitamins": 2,
        },
    ),
    _phenotype(
        "Coronary artery disease",
        1.7,
        0.9,
        {101: 8, 102: 5, 53: 4, 100: 3, 98: 3, 114: 3, 110: 2},
        {
            "HMG CoA Reductase Inhibitors": 6,
            "Platelet Aggregation Inhibitors": 6,
            "Nitrates": 5,
            "Beta Blockers Cardio-Selective": 4,
            "Salicylates": 4,
            "ACE Inhibitors": 3,
            "Intestinal Cholesterol Absorption Inhibitors": 2,
        },
    ),
    _phenotype(
        "Chronic lung disease",
        0.7,
        0.9,
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
    ),
    _phenotype(
        "Aging and frailty",
        0.9,
        0.7,
        {159: 7, 163: 5, 653: 4, 212: 3, 93: 3, 199: 2, 231: 2},
        {
            "Urinary Anti-infectives": 5,
            "Fluoroquinolones": 4,
            "Anti-infective Misc. - Combinations": 4,
            "Antidementia Agents": 4,
            "Urinary Antispasmodics": 3,
            "Laxatives - Miscellaneous": 3,
            "Surfactant Laxatives": 2,
        },
    ),
    _phenotype(
        "Thyroid dysfunction",
        0.0,
        0.8,
        {48: 9, 252: 3, 53: 3, 51: 3, 52: 2},
        {
            "Thyroid Hormones": 9,
            "Antithyroid Agents": 3,
            "Beta Blockers Non-Selective": 3,
            "Cobalamins": 3,
            "Oil Soluble Vitamins": 2,
        },
    ),
    _phenotype(
        "Gastroesophageal disease",
        0.0,
        1.1,
        {138: 7, 251: 4, 155: 4, 140: 4, 141: 3, 250: 2, 143: 2},
        {
            "Proton Pump Inhibitors": 8,
            "H-2 Antagonists": 5,
            "Antispasmodics": 3,
            "Gastrointestinal Stimulants": 3,
            "Antiemetics - Miscellaneous": 3,
            "Misc. Anti-Ulcer": 2,
        },
    ),
    _phenotype(
        "Arthritis and chronic pain",
        0.0,
        1.3,
        {205: 7, 203: 6, 211: 5, 204: 4, 95: 3, 208: 1},
        {
            "Nonsteroidal Anti-inflammatory Agents (NSAIDs)": 6,
            "Opioid Combinations": 6,
            "Central Muscle Relaxants": 5,
            "Anticonvulsants - Misc.": 4,
            "Opioid Agonists": 3,
            "Local Anesthetics - Topical": 3,
        },
    ),
    _phenotype(
        "Allergy and upper airways",
        -1.0,
        1.0,
        {126: 7, 134: 6, 253: 5, 92: 3, 128: 2, 91: 2},
        {
            "Nasal Steroids": 6,
            "Antihistamines - Non-Sedating": 6,
            "Aminopenicillins": 4,
            "Azithromycin": 3,
            "Cough/Cold/Allergy Combinations": 3,
            "Antihistamines - Sedating": 2,
        },
    ),
    _phenotype(
        "Menopause and osteoporosis",
        -0.7,
        1.4,
        {173: 7, 206: 6, 175: 4, 167: 3, 212: 2},
        {
            "Estrogens": 5,
            "Bone Density Regulators": 5,
            "Calcium": 4,
            "Oil Soluble Vitamins": 4,
            "Progestins": 3,
            "Vaginal Estrogens": 3,
        },
    ),
    _phenotype(
        "Prostate and bladder disease",
        0.2,
        1.0,
        {164: 8, 163: 5, 166: 4, 162: 3, 160: 2},
        {
            "Prostatic Hypertrophy Agents": 7,
            "Antiadrenergic Antihypertensives": 4,
            "Impotence Agents": 4,
            "Urinary Antispasmodics": 3,
            "Fluoroquinolones": 2,
        },
    ),
    _phenotype(
        "Hypertension",
        0.4,
        1.4,
        {98: 10, 256: 4, 117: 3, 53: 2, 258: 2},
        {
            "Thiazides and Thiazide-Like Diuretics": 6,
            "Antihypertensive Combinations": 5,
            "Angiotensin II Receptor Antagonists": 5,
            "ACE Inhibitors": 3,
            "Potassium": 3,
            "Calcium Channel Blockers": 2,
        },
    ),
    _phenotype(
        "Skin disease",
        -0.3,
        1.0,
        {200: 7, 198: 6, 197: 4, 4: 4, 23: 2},
        {
            "Corticosteroids - Topical": 7,
            "Antifungals - Topical": 4,
            "Antibiotics - Topical": 4,
            "Tetracyclines": 3,
            "Acne Products": 2,
            "Cephalosporins - 1st Generation": 2,
        },
    ),
    _phenotype(
        "Cerebrovascular disease",
        0.8,
        0.6,
        {109: 6, 113: 5, 110: 4, 112: 3, 98: 3, 83: 2},
        {
            "Platelet Aggregation Inhibitors": 6,
            "Anticonvulsants - Misc.": 3,
            "Salicylates": 4,
            "HMG CoA Reductase Inhibitors": 4,
            "Antihypertensive Combinations": 3,
        },
    ),
)
"""All planted phenotypes; a data set uses the first few of them."""
