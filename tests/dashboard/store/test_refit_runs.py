"""Refits in the store: one key for one change, parents kept, judgements of what stayed the same."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import numpy as np
import pytest
from support.made_runs import Unfollowed

from dashboard.jobs import jobs
from dashboard.jobs.compute import compute
from dashboard.store.budget import removable
from dashboard.store.cards import UnknownRun
from dashboard.store.keeping import USED, note_use
from dashboard.store.lineage import carry_reviews, descendants, parent_of
from dashboard.store.refit_request import refit_request
from dashboard.store.request import Request
from dashboard.store.reviews import Review, Reviews
from dashboard.store.run_record import read_facts
from dashboard.store.store import Store
from swiftcore import Drop, InvalidData, InvalidSettings, Merge, Pin, Seed, Split
from swiftcore.phenotypes.guidance import Step

SEED = Seed((("diagnosis", "diagnosis 0"), ("medication", "medication 5")))


def asked(store: Store, run: str, *steps: Step) -> Request:
    fit = store.fit(run)
    return refit_request(store.run(run), fit.modes, fit.factors, steps)


def refitted(store: Store, run: str, *steps: Step) -> str:
    """A refit as the worker makes it, in this process."""
    request = asked(store, run, *steps)
    files = compute(store, request, Unfollowed())
    carry_reviews(store, request, files)
    return store.publish_run(request, files, 1.0, 1.0)


def test_changes_are_in_the_key_only_where_there_are_any(fitted_store: Store, fit_id: str) -> None:
    plain = fitted_store.run(fit_id).request
    assert "guidance" not in plain.plain() and plain.key() == fit_id
    one = asked(fitted_store, fit_id, Merge("P03", "P01"), Pin("P2"))
    other = asked(fitted_store, fit_id, Pin("P02"), Merge("P01", "P03"))
    assert one == other and one.key() == other.key() != fit_id
    assert one.settings["rank"] == 2 and one.run == fit_id
    keys = {asked(fitted_store, fit_id, step).key() for step in (Pin("P01"), Pin("P02"), SEED)}
    assert len(keys | {one.key()}) == 4
    again = Request.from_plain(json.loads(json.dumps(one.plain())))
    assert again == one and again.key() == one.key()
    assert "changed and refitted" in one.title


@pytest.mark.parametrize(("kind", "run"), [("fit", ""), ("stability", "b" * 32)])
def test_only_a_fit_can_be_changed(kind: str, run: str) -> None:
    with pytest.raises(InvalidSettings, match="finished fit"):
        Request(kind, "a" * 32, {}, run, (Pin("P01"),))


def test_a_refit_is_stored_with_what_it_came_from(fitted_store: Store, fit_id: str) -> None:
    steps = (Merge("P01", "P02"), Drop("P03", "diagnosis 1"), SEED)
    run = refitted(fitted_store, fit_id, *steps)
    card, fit = fitted_store.run(run), fitted_store.fit(run)
    assert card.request.run == fit_id and fit.guidance == card.request.guidance
    assert fit.rank == 3 and parent_of(card, fitted_store.runs()) == fitted_store.run(fit_id)
    about = (fitted_store.root / "runs" / run / "run.json").read_bytes()
    assert read_facts(about)[0] == card.request
    became = descendants(fitted_store.fit(fit_id), fit)
    assert [one.origins for one in became] == [(0, 1), (2,), ()]
    assert became[2].similarity == 0 and not became[0].unchanged
    assert fit.factors[1][1, 1] == 0

    elsewhere = Store(fitted_store.root.parent / "elsewhere")
    for each in (fit_id, run):
        imported = elsewhere.import_run(fitted_store.export_run(each, with_data=True), "x.zip")
    there = elsewhere.run(imported)
    assert there.request == card.request and elsewhere.fit(imported).guidance == fit.guidance
    found = parent_of(there, elsewhere.runs())
    assert found is not None and found.imported is not None and found.imported.run == fit_id


def test_a_bundle_that_says_other_changes_is_refused(fitted_store: Store, fit_id: str) -> None:
    run = refitted(fitted_store, fit_id, Pin("P01"))
    request = replace(fitted_store.run(run).request, guidance=(Pin("P02"),))
    files = {"model.npz": (fitted_store.root / "runs" / run / "model.npz").read_bytes()}
    false = fitted_store.publish_run(request, files, 1.0, 1.0)
    with pytest.raises(InvalidData, match="other changes"):
        Store(fitted_store.root.parent / "b").import_run(
            fitted_store.export_run(false, with_data=True)
        )


def test_a_request_in_other_words_or_settings_is_not_computed(
    fitted_store: Store, fit_id: str
) -> None:
    request = asked(fitted_store, fit_id, Pin("P01"))
    for false in (
        replace(request, guidance=(Pin("P1"),)),
        replace(request, settings={**request.settings, "rank": 5}),
    ):
        with pytest.raises(InvalidSettings, match="does not go with"):
            compute(fitted_store, false, Unfollowed())
    with pytest.raises(UnknownRun):
        compute(fitted_store, replace(request, run="f" * 32), Unfollowed())


def test_a_refit_is_removed_before_what_it_came_from(fitted_store: Store, fit_id: str) -> None:
    child = refitted(fitted_store, fit_id, Pin("P01"))
    for place, run in enumerate((fit_id, child)):  # the parent was not looked at for longest
        note_use(fitted_store.root, run)
        os.utime(fitted_store.root / USED / run, (1e9 + place,) * 2)
    assert [card.id for card in removable(fitted_store, fitted_store.runs())] == [child]
    fitted_store.delete_run(fit_id)  # by hand: what is left is whole, but cannot come back
    assert fitted_store.fit(child).rank == 3
    assert removable(fitted_store, fitted_store.runs()) == []


@pytest.mark.parametrize("kind", ["stability", "noise"])
def test_what_was_changed_by_hand_is_not_followed(
    kind: str, fitted_store: Store, fit_id: str
) -> None:
    child = refitted(fitted_store, fit_id, Pin("P01"))
    dataset = fitted_store.run(child).dataset
    with pytest.raises(InvalidSettings, match="changed by hand"):
        jobs.start(fitted_store, Request(kind, dataset, {"ranks": [3]}, child))


def judge(store: Store, run: str, phenotype: str, **values: object) -> Review:
    fit = store.fit(run)
    digest = fit.phenotype_digest(fit.identifiers.index(phenotype))
    return Reviews(store.root).save(Review(run, phenotype, digest, "Dr. A", **values))  # type: ignore[arg-type]


def test_judgements_of_the_unchanged_go_along_and_no_others(
    fitted_store: Store, fit_id: str
) -> None:
    pinned = judge(fitted_store, fit_id, "P02", name="Gout", verdict="yes", comment="typical")
    judge(fitted_store, fit_id, "P01", name="Mixture", verdict="no", problem="mixed")
    child = refitted(fitted_store, fit_id, Split("P01"), Pin("P02"))
    (found,) = Reviews(fitted_store.root).latest(child)
    assert (found.phenotype, found.name, found.verdict) == ("P02", "Gout", "yes")
    assert found.saved_at == pinned.saved_at and found.reviewer == "Dr. A"
    assert found.comment.startswith("typical\n(Said of P02 in run " + fit_id[:8])
    fit = fitted_store.fit(child)
    assert found.phenotype_digest == fit.phenotype_digest(1) == pinned.phenotype_digest
    assert not [one for one in descendants(fitted_store.fit(fit_id), fit)[::3] if one.unchanged]

    judge(fitted_store, child, "P02", name="Not gout", verdict="no")
    judge(fitted_store, fit_id, "P02", name="Gout!", verdict="yes")
    request = fitted_store.run(child).request
    carry_reviews(fitted_store, request, {"model.npz": _model(fitted_store, child)})
    assert [one.name for one in Reviews(fitted_store.root).latest(child)] == ["Not gout"]


def _model(store: Store, run: str) -> bytes:
    return (store.root / "runs" / run / "model.npz").read_bytes()


def test_a_judgement_that_points_elsewhere_goes_along_only_with_its_target(
    fitted_store: Store, fit_id: str
) -> None:
    judge(fitted_store, fit_id, "P03", verdict="no", problem="duplicate", duplicate_of="P02")
    merged = refitted(fitted_store, fit_id, Merge("P01", "P02"), Pin("P03"))
    assert Reviews(fitted_store.root).latest(merged) == []
    both = refitted(fitted_store, fit_id, Pin("P02"), Pin("P03"), Split("P01"))
    (found,) = Reviews(fitted_store.root).latest(both)
    assert (found.phenotype, found.duplicate_of) == ("P03", "P02")


def test_one_refit_after_another(fitted_store: Store, fit_id: str) -> None:
    first = refitted(fitted_store, fit_id, Drop("P01", "diagnosis 7"))
    second = refitted(fitted_store, first, Pin("P03"), SEED)
    one, other = fitted_store.fit(first), fitted_store.fit(second)
    assert other.factors[1][7, 0] == 0  # what was dropped before stays dropped
    for before, after in zip(one.factors[1:], other.factors[1:], strict=True):
        np.testing.assert_array_equal(before[:, 2], after[:, 2])
