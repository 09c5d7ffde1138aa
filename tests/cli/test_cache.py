"""The cache of `polyc cc`: where it is, what is in it, and how large it grows."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.cli import cache


def test_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative: not valid")
    monkeypatch.delenv("POLYC_CACHE")
    assert cache.folder() == tmp_path / ".cache" / "polyc" / "cc"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert cache.folder() == tmp_path / "x" / "polyc" / "cc"
    monkeypatch.setenv("POLYC_CACHE", str(tmp_path / "own"))
    assert cache.folder() == tmp_path / "own"
    monkeypatch.setenv("POLYC_CACHE", "off")
    assert cache.folder() is None
    cache.store("key", cache.Entry("text"))
    assert cache.load("key") is None
    assert list(tmp_path.iterdir()) == []


def test_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYC_CACHE", str(tmp_path))
    entry = cache.Entry("int a; // \udcff\r\n", True)
    assert cache.load("one") is None
    cache.store("one", entry)
    cache.store("two", cache.Entry(""))
    assert (cache.load("one"), cache.load("two")) == (entry, cache.Entry(""))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]
    for damaged in (b"", b"\n", (tmp_path / "one").read_bytes()[:-1], (tmp_path / "one").read_bytes() + b" "):
        (tmp_path / "one").write_bytes(damaged)
        assert cache.load("one") is None
    assert cache.key_of([b"a", b"b"]) != cache.key_of([b"ab"])


def test_the_oldest_entries_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYC_CACHE", str(tmp_path))
    monkeypatch.setattr(cache, "LARGEST_BYTES", 5000)
    for number in range(9):
        cache.store(str(number), cache.Entry("x" * 900))
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 5000
        cache.load("0")  # what is used stays
    assert cache.load("8") is not None
    assert cache.load("0") is not None
    assert cache.load("1") is None


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("POLYC_CACHE", str(tmp_path / "file" / "inside"))
    cache.store("one", cache.Entry("text"))
    assert cache.load("one") is None
