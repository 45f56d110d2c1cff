"""Hierarchies, matching of labels, blends: the laws of costs from outside."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swiftcore.cost import check_cost
from swiftcore.cost.outside.cost_table import CostTable
from swiftcore.cost.outside.hierarchy import code_paths, path_cost
from swiftcore.cost.outside.icd import icd_path
from swiftcore.cost.outside.knowledge import OutsideKnowledge
from swiftcore.cost.outside.matching import Named, named_features, places_of
from swiftcore.cost.outside.mode_cost import outside_cost
from swiftcore.cost.outside.read_file import read_cost_bytes
from swiftcore.data.building.ccs import ccs_codes
from swiftcore.errors import InvalidCost, InvalidSettings
from swiftcore.spec.cost_text import cost_text, read_cost_text
from swiftcore.tensor import Mode

MATRIX = CostTable(
    "matrix", ("a", "b", "c"), np.array([[0, 0.2, 0.8], [0.2, 0, 0.5], [0.8, 0.5, 0]])
)
VECTORS = CostTable("vectors", ("a", "b", "c"), np.array([[1.0, 0], [1, 1], [-1, 0]]))
paths = st.lists(st.lists(st.sampled_from("xyz"), max_size=5).map(tuple), min_size=1, max_size=12)


@given(paths)
@settings(max_examples=60, deadline=None)
def test_a_hierarchy_gives_a_cost_by_the_stated_formula(some: list[tuple[str, ...]]) -> None:
    cost = path_cost(some)
    check_cost(cost, len(some), "hierarchy")
    assert cost.min() >= 0 and cost.max() <= 1
    for i, one in enumerate(some):
        for j, other in enumerate(some):
            shared = 0
            while shared < min(len(one), len(other)) and one[shared] == other[shared]:
                shared += 1
            wanted = 0 if i == j else 1 - 2 * shared / max(len(one) + len(other), 1)
            assert cost[i, j] == pytest.approx(wanted)


def distance(hierarchy: str, one: str, other: str) -> float:
    found = outside_cost(hierarchy, [one, other])
    assert found.matrix is not None
    return float(found.matrix[0, 1])


def test_codes_part_at_digit_category_block_and_chapter() -> None:
    far = [
        distance("icd9", "428.21", other) for other in ("428.22", "428.0", "427.31", "401.9", "486")
    ]
    assert far == sorted(far) and len(set(far)) == 5 and far[-1] == 1
    ten = [distance("icd10", "I50.21", o) for o in ("I50.22", "I50.9", "I48.0", "I10", "J18.9")]
    assert ten == sorted(ten) and len(set(ten)) == 5 and ten[-1] == 1
    atc = [
        distance("atc", "C03CA01", o)
        for o in ("C03CA02", "C03CB01", "C03AA03", "C07AB02", "A10BA02")
    ]
    assert atc == sorted(atc) and len(set(atc)) == 5 and atc[-1] == 1


def test_the_editions_meet_in_chapters() -> None:
    assert distance("icd", "428.0", "I50.9") < 1 == distance("icd", "428.0", "J18.9")


@pytest.mark.parametrize(
    ("code", "system", "chapter", "block"),
    [
        ("V45.81", "icd9", "contacts", "V40"),
        ("E885.9", "icd9", "causes", "E880"),
        ("0389", "icd9", "infections", "030"),
        ("99591", "icd9", "injuries", "990"),
        ("C4A.9", "icd10", "neoplasms", "C43"),
        ("C7A.0", "icd10", "neoplasms", "C7A"),
        ("M1A.09X0", "icd10", "movement", "M05"),
        ("S72.001A", "icd10", "injuries", "S70"),
        ("Z3A.20", "icd10", "contacts", "Z30"),
        ("u07.1", "icd10", "special", "U00"),
    ],
)
def test_chapter_and_block_of_a_code(code: str, system: str, chapter: str, block: str) -> None:
    path = icd_path(code, system)
    assert path is not None and path[:2] == (chapter, f"{system} from {block}")


@pytest.mark.parametrize("system", ["icd9", "icd10"])
def test_every_code_of_the_ccs_tables_has_a_place(system: str) -> None:
    codes = [code for code in ccs_codes(system) if len(code) > 2]
    lost = [code for code in codes if icd_path(code, system) is None]
    assert len(codes) > 10_000 and lost == []


def test_ccs_knows_codes_names_and_numbers() -> None:
    labels = ["428.0", "Congestive heart failure; nonhypertensive", "Asthma [128.]", "CCS 108"]
    found = outside_cost("ccs", labels)
    assert found.matrix is not None and found.missing == {}
    assert found.matrix[1, 3] == 0  # the same category
    assert 0 < found.matrix[0, 1] < found.matrix[0, 2] == 1


def test_ccs_takes_a_category_of_the_icd_as_what_all_its_codes_share() -> None:
    """E11 has codes in two categories of diabetes, I50 in one; I10.90 is a German code."""
    labels = ["E11 Type 2 diabetes", "E78.5", "I50", "Congestive heart failure; nonhypertensive"]
    paths = code_paths(named_features([*labels, "I10.90", "E87", "250"]), "ccs")
    assert paths[0] == ("3", "icd10 E11") and paths[1][0] == "3"
    assert paths[2][:-1] == paths[3] == ("7", "7.2", "category 108")
    assert paths[4][:2] == ("7", "7.1") and paths[6] == ("3", "icd9 250")
    assert paths[5] == ("icd10 E87",)  # the codes below it are in two chapters
    assert outside_cost("ccs", labels).missing == {}
    assert code_paths(named_features(["E1", "Eleven"]), "ccs") == [(), ()]


def test_a_category_number_is_no_code() -> None:
    """ "Adjustment disorders [650]" is a CCS category, not ICD-9 650, normal delivery."""
    with pytest.raises(InvalidCost):
        outside_cost("icd9", ["Adjustment disorders [650]"])
    assert code_paths(named_features(["Normal delivery [650]"]), "icd9")[0][0] == "pregnancy"


@pytest.mark.parametrize(
    "label",
    [
        "428.0",
        "4280",
        "428.0 Congestive heart failure",
        "428.0: Congestive heart failure",
        "428.0 - Congestive heart failure",
        "Congestive heart failure [428.0]",
        "Congestive heart failure (4280)",
    ],
)
def test_codes_are_found_in_labels(label: str) -> None:
    assert code_paths([Named(label)], "icd")[0][-1] == "icd9 4280"


def test_codes_of_the_source_are_used_where_labels_hide_them() -> None:
    labels = ["CHF NOS", "Atrial fibrillation", "Routine visit"]
    codes = {"CHF NOS": "icd9:4280", "Atrial fibrillation": "42731", "Routine visit": "icd10:V70"}
    chapters = [path[0] for path in code_paths(named_features(labels, codes), "icd")]
    assert chapters == ["circulation", "circulation", "causes"]


def test_a_code_of_the_source_goes_before_the_name_of_a_category() -> None:
    codes = {"Multiple sclerosis": "icd9:340"}
    assert code_paths(named_features(list(codes), codes), "icd")[0][0] == "nerves"
    assert code_paths(named_features(list(codes)), "icd") == [()]
    assert code_paths(named_features(list(codes), codes), "ccs")[0][-1] == "icd9 340"


def test_features_are_matched_exactly_then_loosely_then_by_code() -> None:
    features = named_features(["Asthma", "HEART  failure", "I10 Hypertension", "nobody"])
    assert places_of(features, ["asthma", "Asthma", "heart failure", "i10"]) == [1, 2, 3, -1]


def test_what_is_missing_is_listed_and_as_far_as_the_farthest() -> None:
    tables = {MATRIX.digest: MATRIX}
    found = outside_cost(f"table:{MATRIX.digest}", ["c", "new", "a"], tables=tables)
    wanted = [[0, 0.8, 0.8], [0.8, 0, 0.8], [0.8, 0.8, 0]]
    assert found.matrix is not None
    np.testing.assert_array_equal(found.matrix, wanted)
    assert found.missing == {f"table:{MATRIX.digest}": ("new",)}
    hierarchy = outside_cost("icd9", ["4280", "4281", "who knows"])
    assert hierarchy.matrix is not None
    assert hierarchy.matrix[2].tolist() == [1, 1, 0] and hierarchy.missing == {
        "icd9": ("who knows",)
    }


def test_vectors_are_compared_by_their_cosine_up_to_one() -> None:
    found = outside_cost(f"table:{VECTORS.digest}", "abc", tables={VECTORS.digest: VECTORS})
    assert found.matrix is not None
    wanted = [[0, 1 - 0.5**0.5, 1], [1 - 0.5**0.5, 0, 1], [1, 1, 0]]
    np.testing.assert_allclose(found.matrix, wanted, atol=1e-15)


def test_own_hierarchy_leaves_the_root_of_all_aside() -> None:
    table = read_cost_bytes(b"child,parent\nx,A\ny,A\nz,B\nA,all\nB,all\n", "own.csv")
    found = outside_cost(f"table:{table.digest}", "xyz", tables={table.digest: table})
    assert found.matrix is not None
    assert found.matrix[0].tolist() == [0, 0.5, 1]


def test_a_way_up_that_has_no_end_is_refused() -> None:
    """A table that no reader checked, as one in a stranger's folder."""
    circle = CostTable("parents", ("a", "b", "c"), np.array([1, 0, -1]))
    with pytest.raises(InvalidCost, match="The way up is too long"):
        outside_cost(circle.text, ["a", "c"], tables={circle.digest: circle})


@given(st.integers(1, 99), st.integers(0, 2**16))
@settings(max_examples=25, deadline=None)
def test_a_blend_lies_between_its_parts(percent: int, seed: int) -> None:
    weight, rest = percent / 100, round(1 - percent / 100, 2)
    labels, tables = ("a", "b", "c"), {MATRIX.digest: MATRIX}
    drawn = np.random.default_rng(seed).uniform(size=(3, 3))
    drawn = np.triu(drawn, 1) + np.triu(drawn, 1).T
    blend = outside_cost(
        f"{weight}*table:{MATRIX.digest}+{rest}*random",
        labels,
        tables=tables,
        from_data=lambda name: drawn,
    ).matrix
    assert blend is not None
    np.testing.assert_allclose(blend, weight * MATRIX.values + rest * drawn, atol=1e-12)
    check_cost(blend, 3, "blend")


def test_a_source_that_knows_nothing_is_refused() -> None:
    with pytest.raises(InvalidCost, match="none of its 2 features, such as 'aspirin'"):
        outside_cost("icd", ["aspirin", "ibuprofen"])
    foreign = read_cost_bytes(b"child,parent\nx,A\ny,A\n", "own.csv")
    with pytest.raises(InvalidCost, match=r"The cost 'own\.csv' cannot be used"):
        outside_cost(foreign.text, ["aspirin"], tables={foreign.digest: foreign})
    with pytest.raises(InvalidCost, match="no such table"):
        outside_cost(f"table:{MATRIX.digest}", ["a"])


def test_no_mass_moves() -> None:
    assert outside_cost("none", ["a"]).matrix is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing"),
        ("cosin", "'cosin'"),
        ("0.5*icd+0.4*cosine", "add up to 0.9"),
        ("0.5*icd+cosine", "without a weight"),
        ("icd+", "without a weight"),
        ("2*icd+0.5*cosine", "weight 2"),
        ("0*icd+1*cosine", "weight 0"),
        ("0.5*icd", "for one cost alone"),
        ("0.5.1*icd+0.5*cosine", "0.5.1"),
        ("0.5*none+0.5*icd", "'none' in a blend"),
        ("0.5*icd+0.5*icd", "twice"),
        ("table:123", "'table:123'"),
    ],
)
def test_a_text_that_means_nothing_is_refused(text: str, said: str) -> None:
    with pytest.raises(InvalidSettings, match="cannot be understood") as refused:
        read_cost_text(text, "the cost of diagnosis")
    assert said in refused.value.problems[0].found


@pytest.mark.parametrize("text", ["icd", "none", "0.3*icd+0.7*cosine", f"table:{'0' * 64}"])
def test_a_text_read_and_written_is_the_same(text: str) -> None:
    assert cost_text(read_cost_text(text)) == text


def test_only_lines_in_use_are_kept_of_a_table() -> None:
    cut = MATRIX.cut_to([2, 0, 2])
    assert cut.labels == ("a", "c") and cut.values.tolist() == [[0, 0.8], [0.8, 0]]
    assert cut.digest != MATRIX.digest


def test_a_table_that_knows_one_feature_still_says_how_far_the_others_are() -> None:
    mode = Mode("diagnosis", ("b", "new", "other"))
    cut = OutsideKnowledge().fitted_to(MATRIX, mode)
    assert read_cost_bytes(cut.to_bytes(), "again.npz") == cut  # as a data set in a file needs it
    found = outside_cost(cut.text, mode.labels, tables={cut.digest: cut}).matrix
    assert found is not None
    np.testing.assert_array_equal(found, 0.8 * (1 - np.eye(3)))
