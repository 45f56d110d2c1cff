"""From what was asked for to what is there: data set, then run; a dead link is said, not hidden."""

from __future__ import annotations

from dashboard.session import cache, state
from dashboard.session.state import Key
from dashboard.store.cards import DatasetCard, RunCard, RunState, belongs
from dashboard.store.imported import Origin

NOT_HERE = "The result of this link is not in this store, or is not finished."
REMOVED = (
    "The result of this link was removed to make room; the page Runs (History) computes it again."
)
ANOTHER = "Here is the newest one of this data set instead."


def resolve() -> list[str]:
    """Put the chain on things that exist; sentences for what is not there or not whole."""
    notices: list[str] = []
    cards = cache.datasets()
    asked_for = cache.runs(kind="fit")
    fits = [run for run in asked_for if run.state is RunState.DONE]
    if not state.current_dataset():  # a link may name the run alone
        owner = next((fit.dataset for fit in fits if fit.id == state.current_run()), "")
        state.set(Key.DATASET, owner)
    if asked := state.current_dataset():
        if asked not in cards:
            notices.append(
                "The data set of this link is not in this store. "
                "Here is another one; choose yours in the sidebar."
            )
            state.choose(dataset=_first_dataset(cards, fits), run="", phenotype="")
    else:
        state.choose(
            dataset=_first_dataset(cards, fits),
            run=state.current_run(),
            phenotype=state.current_phenotype(),
        )
    mine = [fit for fit in fits if fit.dataset == state.current_dataset()]
    asked = state.current_run()
    if asked not in {fit.id for fit in mine} and (asked or mine):
        if asked:
            gone = any(run.id == asked and run.state is RunState.REMOVED for run in asked_for)
            notices.append(f"{REMOVED if gone else NOT_HERE} {ANOTHER if mine else ''}".strip())
        state.choose(run=_first_run(mine), phenotype="" if asked else state.current_phenotype())
    if notices:
        state.set(Key.DEAD_LINKS, notices)
    card = cards.get(state.current_dataset())
    state.set(Key.SYNTHETIC, bool(card and card.synthetic))
    state.set(Key.MODES, card.mode_names if card else ())
    shown = list(state.get(Key.DEAD_LINKS, []))
    if card and card.damaged:
        shown.append(
            "The files of this data set were changed after they were written. Load the "
            "data again on the page Data, or choose another set."
        )
    return shown


def finished_fits() -> list[RunCard]:
    """The finished fits of the chosen data set, newest first."""
    runs = cache.runs(state.current_dataset(), "fit")
    return [run for run in runs if run.state is RunState.DONE]


def origin() -> Origin | None:
    """Where the chosen fit was imported from; None if it was computed here."""
    mine = [fit for fit in finished_fits() if fit.id == state.current_run()]
    return mine[0].imported if mine else None


def fit_of(run: RunCard) -> RunCard | None:
    """The fit that an experiment or new rows belong to, if it is here."""
    if run.kind == "fit":
        return run
    fits = cache.runs(kind="fit")
    return next((fit for fit in fits if belongs(run, fit.id, fit.imported)), None)


def _first_dataset(cards: dict[str, DatasetCard], fits: list[RunCard]) -> str:
    """One's own data with the newest result; else the first sample that has one; else any."""
    fitted = [cards[fit.dataset] for fit in fits if fit.dataset in cards and not fit.damaged]
    own = [card for card in fitted if not card.synthetic]
    samples = sorted(fitted, key=lambda card: -card.added)
    return next((card.id for card in [*own, *samples, *cards.values()]), "")


def _first_run(fits: list[RunCard]) -> str:
    """The newest sound one, one's own before imported ones."""
    sound = [fit for fit in fits if not fit.damaged]
    own = [fit for fit in sound if fit.imported is None]
    return next((fit.id for fit in [*own, *sound, *fits]), "")
