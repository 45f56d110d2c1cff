"""Documents: sentences, words, vocabulary, co-occurrence; nothing learnt from test rows."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfTransformer

from swiftcore.cost.cosine import unit_rows
from swiftcore.cost.tf_idf import tf_idf
from swiftcore.data.building.documents import choose_words, cooccurrence_tensor, read_corpus
from swiftcore.data.from_path.read_path import read_path
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import InvalidData

Write = Callable[[str, str | bytes], Path]
TEXTS = [
    "Cats chase mice. Mice fear cats! Dr. Brown sees cats",
    "Dogs chase cats and dogs.\n\nMice sleep.",
    "Brown dogs sleep. Brown dogs chase.",
]


def corpus_of(texts: list[str], stop_words: str = "english"):  # type: ignore[no-untyped-def]
    return read_corpus([str(k) for k in range(len(texts))], texts, stop_words, Findings())


def test_co_occurrence_counts_sentences_with_both_words() -> None:
    corpus = corpus_of(TEXTS)
    tensor = cooccurrence_tensor(corpus, ("brown", "cats", "chase", "dogs", "mice", "sleep"))
    sentences = [
        [{"cats", "chase", "mice"}, {"mice", "cats"}, {"brown", "cats"}],
        [{"dogs", "chase", "cats"}, {"mice", "sleep"}],
        [{"brown", "dogs", "sleep"}, {"brown", "dogs", "chase"}],
    ]
    words = tensor.modes[1].labels
    expected = np.zeros(tensor.shape)
    for document, parts in enumerate(sentences):
        for part in parts:
            for one in part:
                for other in part:
                    expected[document, words.index(one), words.index(other)] += 1
    assert np.array_equal(tensor.to_dense(), expected)


def test_abbreviations_do_not_end_a_sentence_and_stop_words_vanish() -> None:
    corpus = corpus_of(["The Dr. Smith and Mr. Jones met. They left."])
    assert corpus.words == ("dr", "jones", "left", "met", "smith")
    assert len(set(corpus.sentence.tolist())) == 2
    assert "the" in corpus_of(["The end."], "none").words


def test_tf_idf_equals_scikit_learn() -> None:
    counts = corpus_of(TEXTS).word_counts()
    ours = unit_rows(tf_idf(counts)).toarray()
    theirs = TfidfTransformer().fit_transform(counts).toarray()
    assert np.allclose(ours, theirs, atol=1e-12)
    fitted = TfidfTransformer().fit(counts[[0, 1]])
    ours = unit_rows(tf_idf(counts, counts[[0, 1]])).toarray()
    assert np.allclose(ours, fitted.transform(counts).toarray())


def test_vocabulary_by_documents_and_by_tfidf() -> None:
    corpus = corpus_of(TEXTS)
    counts = corpus.word_counts()
    by_documents = choose_words(counts, corpus.words, 2, "documents")
    documents = Counter(
        {word: int(np.sum(counts.toarray()[:, k] > 0)) for k, word in enumerate(corpus.words)}
    )
    assert by_documents == tuple(sorted(sorted(documents, key=lambda w: (-documents[w], w))[:2]))
    assert len(choose_words(counts, corpus.words, 99, "tfidf")) == len(corpus.words)


def test_test_rows_never_touch_the_vocabulary_or_the_weights() -> None:
    rng = np.random.default_rng(0)
    letters = ["alpha", "beta", "gamma", "delta", "omega", "sigma", "kappa"]
    texts = [" ".join(rng.choice(letters, 12)) + "." for _ in range(30)]
    train = np.arange(20)

    def learnt(all_texts: list[str]) -> tuple[tuple[str, ...], bytes]:
        corpus = corpus_of(all_texts)
        counts = corpus.word_counts()
        words = choose_words(counts, corpus.words, 4, "tfidf", train)
        kept = [corpus.words.index(word) for word in letters]
        return words, tf_idf(counts, counts[train]).toarray()[train][:, kept].tobytes()

    reference = learnt(texts)
    for _ in range(50):
        changed = list(texts)
        for row in range(20, 30):
            changed[row] = " ".join(rng.choice([*letters, "zeta", "eta"], 9))
        assert learnt(changed) == reference


def test_folder_and_zip_by_category_agree(write: Write, tmp_path: Path) -> None:
    files = {
        f"news/{group}/{k:03}.txt": f"Some {group} text number {k}. More {group} words here."
        for group in ("sport", "tech")
        for k in range(3)
    }
    for name, text in files.items():
        write(f"set/{name}", text)
    write("set/README.TXT", "not a document")
    write("set/news/sport/cp.txt", "Costs \xa35 today. Some sport.".encode("cp1252"))
    folder = read_path(tmp_path / "set", BuildOptions(), Findings())
    assert folder.tensor.shape[0] == 7 and folder.outcome is not None
    assert folder.outcome.tolist() == ["sport"] * 4 + ["tech"] * 3
    assert folder.tensor.modes[0].labels[0] == "sport/000"
    archive = tmp_path / "set.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for path in (tmp_path / "set").rglob("*.*"):
            out.write(path, path.relative_to(tmp_path))
    assert read_path(archive, BuildOptions(), Findings()).tensor == folder.tensor


def test_table_with_text_and_label(write: Write) -> None:
    rows = "".join(
        f'a{k},{"x" if k % 2 else "y"},"The quick brown fox number {k} jumps over, '
        f'and over. The lazy dog sleeps"\n'
        for k in range(6)
    )
    findings = Findings()
    data = read_path(write("t.csv", "id,category,text\n" + rows), BuildOptions(), findings)
    assert findings.mapping == {"text": "text", "label": "category"}
    assert data.tensor.modes[0].labels == tuple(f"a{k}" for k in range(6))
    assert data.outcome is not None and data.outcome.tolist() == ["y", "x"] * 3
    assert data.word_counts is not None and data.word_counts.shape[0] == 6
    one = read_path(
        write("u.csv", 'body\n"one two three"\n"two three four"\n'),
        BuildOptions(columns={"text": "body"}),
        Findings(),
    )
    assert one.outcome is None and one.tensor.modes[0].labels == ("row 1", "row 2")


def test_texts_without_words_are_refused(write: Write) -> None:
    write("d/a/1.txt", "12 34 !!")
    with pytest.raises(InvalidData, match="no words"):
        read_path(write("d/b/2.txt", "the of and").parent.parent, BuildOptions(), Findings())


def test_a_vocabulary_of_size_0_has_all_words(write: Write) -> None:
    rows = "".join(f'{k},"{text}"\n' for k, text in enumerate(TEXTS)).replace("\n\n", " ")
    path, findings = write("all.csv", "id,text\n" + rows), Findings()
    texts = {"text": "text"}
    data = read_path(path, BuildOptions(columns=texts, vocabulary_size=0), findings)
    assert data.tensor.modes[1].labels == data.words and len(data.words) > 4
    assert not any("chosen over all documents" in note for note in findings.notes)
    few = read_path(path, BuildOptions(columns=texts, vocabulary_size=3), findings)
    assert len(few.tensor.modes[1].labels) == 3
    assert any("chosen over all documents" in note for note in findings.notes)
    assert any("The 3 words were chosen over all documents" in note for note in findings.notes)
