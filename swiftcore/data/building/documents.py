"""Texts to a document x word x word tensor: how often two words share a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import ArrayLike, NDArray

from swiftcore.cost.cosine import unit_rows
from swiftcore.cost.tf_idf import tf_idf
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import refuse
from swiftcore.tensor import Mode, SparseTensor

WORD = r"[^\W\d_]{2,}"  # two letters or more
# a word, or the end of a sentence (a mark before a space, or a blank line)
_TOKEN = re.compile(rf"{WORD}|[.!?]+[\"')\]]*\s|\n\s*\n")
_ABBREVIATIONS = frozenset(
    "mr mrs ms dr st prof sen rep gen col lt jr sr inc ltd co corp vs no".split()  # noqa: SIM905
)
# English words that only hold sentences together
STOP_WORDS = frozenset(
    """
    about above across after afterwards again against ain all almost along already also although
    always am among amongst an and another any anybody anyone anything anyway anywhere are aren
    around as at away back be became because become becomes been before beforehand behind being
    below beside besides between beyond both but by came can cannot come could couldn did didn
    do does doesn doing don done down during each either else elsewhere enough etc even ever
    every everybody everyone everything everywhere few for former formerly from further gave get
    gets getting give given gives go goes going gone got had hadn has hasn have haven having he
    hence her here hers herself him himself his how however if in indeed instead into is isn it
    its itself just keep kept last latter least less lest let like likely ll made make makes
    many may maybe me meanwhile might mine more moreover most mostly mr mrs ms much must mustn
    my myself namely near nearly neither never nevertheless next no nobody none nor not nothing
    now nowhere of off often oh on once one only onto or other others otherwise ought our ours
    ourselves out over own per perhaps put quite rather re really said same saw say says see
    seem seemed seems seen several shall shan she should shouldn since so some somebody somehow
    someone something sometimes somewhere still such take taken than that the their theirs them
    themselves then thence there thereby therefore these they thing things this those though
    through throughout thru thus to together too took toward towards two under unless until up
    upon us use used very via want was wasn way we well went were weren what whatever when
    whenever where whereas wherever whether which while who whoever whole whom whose why will
    with within without won would wouldn yes yet you your yours yourself yourselves ve
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents as counted words, sentence by sentence.

    Attributes
    ----------
    names : tuple of str
        One per document.
    words : tuple of str
        All distinct words in lower case, sorted; no stop words.
    sentence, word : ndarray of int64
        One entry per word in the text: which sentence (numbered through all documents) and
        which word.
    sentence_document : ndarray of int64
        The document of each sentence.
    """

    names: tuple[str, ...]
    words: tuple[str, ...]
    sentence: NDArray[np.int64]
    word: NDArray[np.int64]
    sentence_document: NDArray[np.int64]

    def word_counts(self) -> sparse.csr_array:
        """Documents x words: how often each document uses each word."""
        shape = (len(self.names), len(self.words))
        documents = self.sentence_document[self.sentence]
        ones = np.ones(len(documents))
        return sparse.csr_array((ones, (documents, self.word)), shape=shape)


def read_corpus(
    names: Sequence[str], texts: Sequence[str], stop_words: str, findings: Findings
) -> Corpus:
    """Cut texts into sentences and words; words are letters only, in lower case.

    Raises
    ------
    InvalidData
        When no text holds a word.
    """
    stop = STOP_WORDS if stop_words == "english" else frozenset()
    words, sentence, word, owner = _tokenized(texts, stop)
    if not words:
        raise refuse(
            "no-words",
            "The texts hold no words",
            "documents",
            f"{len(texts)} texts",
            "Check the encoding and the stop words.",
        )
    _note_repeats(texts, findings)
    order = np.argsort(np.array(words))
    rank = np.argsort(order)
    return Corpus(
        names=tuple(names),
        words=tuple(words[k] for k in order),
        sentence=np.array(sentence, dtype=np.int64),
        word=rank[np.array(word, dtype=np.int64)],
        sentence_document=np.array(owner, dtype=np.int64),
    )


def _note_repeats(texts: Sequence[str], findings: Findings) -> None:
    repeats = len(texts) - len({" ".join(text.split()) for text in texts})
    if repeats:
        findings.note(
            f"{repeats:,} documents repeat another one word for word; keep them in the "
            "same fold when evaluating."
        )


def _tokenized(
    texts: Sequence[str], stop: frozenset[str]
) -> tuple[list[str], list[int], list[int], list[int]]:
    """The words as they come up, sentence and word of each token, document of each sentence."""
    place: dict[str, int] = dict.fromkeys(stop, -1)
    words: list[str] = []
    sentence: list[int] = []
    word: list[int] = []
    owner: list[int] = []
    for document, text in enumerate(texts):
        owner.append(document)
        last = ""
        for token in _TOKEN.findall(text.lower()):
            code = place.get(token)
            if code is None:
                if not token[0].isalpha():
                    if last not in _ABBREVIATIONS or token[0] == "\n":
                        owner.append(document)
                    continue
                code = place[token] = len(words)
                words.append(token)
            last = token
            if code >= 0:
                sentence.append(len(owner) - 1)
                word.append(code)
    return words, sentence, word, owner


def choose_words(
    counts: sparse.csr_array,
    words: Sequence[str],
    size: int,
    by: str,
    training_rows: ArrayLike | None = None,
) -> tuple[str, ...]:
    """The words that matter most in the training documents, in alphabetical order.

    Parameters
    ----------
    counts : sparse array, (documents, words)
        From :meth:`Corpus.word_counts`.
    by : {"tfidf", "documents"}
        Largest sum of TF-IDF weights, or most documents.
    training_rows : array-like, optional
        Only these documents are looked at; give them whenever results are evaluated.
    """
    total = word_weights(counts, by, training_rows)
    order = np.lexsort((np.arange(len(total)), -np.round(total, 9)))[:size]
    return tuple(words[k] for k in sorted(order.tolist()) if total[k] > 0)


def word_weights(
    counts: sparse.csr_array, by: str, training_rows: ArrayLike | None = None
) -> NDArray[np.float64]:
    """How much each word matters in the training documents; see :func:`choose_words`."""
    chosen = counts
    if training_rows is not None:
        chosen = sparse.csr_array(counts[np.asarray(training_rows)])
    weights = unit_rows(tf_idf(chosen)) if by == "tfidf" else chosen > 0
    return np.asarray(weights.sum(axis=0), dtype=np.float64).ravel()


def cooccurrence_tensor(corpus: Corpus, vocabulary: Sequence[str]) -> SparseTensor:
    """Documents x words x words: in how many sentences of the document both words stand.

    The diagonal holds the number of sentences with the word itself, so that a word counts
    even where it stands alone. Documents without any word of the vocabulary stay as empty rows.
    """
    position = {word: index for index, word in enumerate(corpus.words)}
    new = np.full(len(corpus.words), -1, dtype=np.int64)
    new[[position[word] for word in vocabulary]] = np.arange(len(vocabulary))
    kept = new[corpus.word] >= 0
    size = len(vocabulary)
    marks = np.unique(corpus.sentence[kept] * size + new[corpus.word[kept]])
    sentence, word = marks // size, marks % size
    first, second = _pairs_within(sentence)
    document = corpus.sentence_document[sentence[first]]
    places, counts = _counted(np.stack([document, word[first], word[second]], axis=1), size)
    modes = [
        Mode("document", corpus.names),
        Mode("word", tuple(vocabulary)),
        Mode("other word", tuple(vocabulary)),
    ]
    return SparseTensor.from_coordinates(places, counts, modes=modes)


def _pairs_within(group: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All ordered pairs of positions that belong to the same (sorted) group."""
    start = np.searchsorted(group, group, "left")
    counts = np.searchsorted(group, group, "right") - start
    first = np.repeat(np.arange(len(group)), counts)
    offset = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
    return first, start[first] + offset


def _counted(places: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    keys = (places[:, 0] * size + places[:, 1]) * size + places[:, 2]
    unique, counts = np.unique(keys, return_counts=True)
    rest, last = np.divmod(unique, size)
    document, middle = np.divmod(rest, size)
    return np.stack([document, middle, last], axis=1), counts
