"""Files from mirrors: order, checksums, archives, retries, limits, no network, no space, and nothing half-written."""

from __future__ import annotations

import contextlib
import errno
import gzip
import hashlib
import http.server
import io
import os
import tarfile
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pucli.core.errors import RunError, UsageError
from pucli.data import fetch, load_dataset
from pucli.data.catalogue import download, http_download
from pucli.data.files import archives
from pucli.data.files.archives import ArchiveError, unpack

TEXT = b"a,class\n1,1\n2,0\n"
SHA = hashlib.sha256(TEXT).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves `server.pages`: path -> bytes, a function of the handler, or a list of them used up one per request."""

    def do_GET(self):
        self.server.asked.append(self.path)
        page = self.server.pages.get(self.path, 404)
        if isinstance(page, list):
            page = page.pop(0) if len(page) > 1 else page[0]
        if isinstance(page, int):
            self.send_error(page)
            return
        if callable(page):
            page(self)
            return
        cut = page.startswith(b"CUT")
        self.send_response(200)
        self.send_header("Content-Length", str(len(page) + 100 * cut))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(http_download, "_WAIT", 0.0)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "PUCLI_MIRROR", "PUCLI_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.pages, running.asked, running.over = {}, [], threading.Event()
        running.url = f"http://127.0.0.1:{running.server_port}"
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running
        running.over.set()
        running.shutdown()


def declare(folder: Path, *mirrors: str, name: str = "toy.csv", sha: str = SHA, extra: str = "") -> Path:
    path = folder / "mine.yaml"
    path.write_text(
        "toy:\n  title: Toy\n  license: none\n  files:\n"
        f"    - name: {name}\n      sha256: {sha}\n      mirrors: [{', '.join(mirrors)}]\n"
        "  target: {column: class, positive: [1], negative: [0]}\n" + extra
    )
    return path


def get(folder: Path, catalogue: Path, **options):
    return fetch("toy", cache=folder / "cache", catalogue=catalogue, **options)


def left(folder: Path) -> list[str]:
    """Return the names of all files in the cache, temporary ones too."""
    return sorted(path.name for path in (folder / "cache").rglob("*") if path.is_file())


def test_mirrors_are_tried_in_turn_until_the_content_is_right(server, tmp_path):
    server.pages = {"/wrong": b"something else", "/right": TEXT, "/never": TEXT}
    catalogue = declare(tmp_path, *(f"{server.url}/{page}" for page in ("none", "wrong", "right", "never")))
    (path,) = get(tmp_path, catalogue)
    assert path.read_bytes() == TEXT
    assert server.asked == ["/none", "/wrong", "/right"]
    assert left(tmp_path) == ["toy.csv"]
    assert get(tmp_path, catalogue) == [path]
    assert len(server.asked) == 3  # the cache answers


def test_a_named_mirror_comes_first_and_the_environment_names_one(server, tmp_path, monkeypatch):
    server.pages = {"/data/toy/toy.csv.gz": gzip.compress(TEXT), "/far": TEXT}
    catalogue = declare(tmp_path, f"{server.url}/far")
    monkeypatch.setenv("PUCLI_MIRROR", f"{server.url}/data/")
    get(tmp_path, catalogue)
    assert "/far" not in server.asked


@pytest.mark.parametrize("place", ["toy.csv", "toy/toy.csv", "uci/toy/toy.csv", "uci/toy/toy.csv.gz", "toy.csv.gz"])
def test_a_folder_works_as_a_mirror_offline(place, tmp_path):
    file = tmp_path / "mirror" / place
    file.parent.mkdir(parents=True)
    file.write_bytes(gzip.compress(TEXT) if place.endswith(".gz") else TEXT)
    (path,) = get(tmp_path, declare(tmp_path), mirror=tmp_path / "mirror", offline=True)
    assert path.read_bytes() == TEXT
    (tmp_path / "second").mkdir()
    uri = declare(tmp_path / "second", file.as_uri())
    assert get(tmp_path / "second", uri, offline=True)[0].read_bytes() == TEXT


def test_a_wrong_file_in_the_mirror_is_skipped(tmp_path):
    (tmp_path / "mirror" / "toy").mkdir(parents=True)
    (tmp_path / "mirror" / "toy" / "toy.csv").write_bytes(b"wrong")
    (tmp_path / "mirror" / "toy.csv").write_bytes(TEXT)
    (path,) = get(tmp_path, declare(tmp_path), mirror=tmp_path / "mirror", offline=True)
    assert path.read_bytes() == TEXT


def test_a_file_comes_out_of_a_downloaded_archive(server, tmp_path):
    server.pages = {"/toy.zip": zipped({"folder/toy.csv": TEXT, "other.csv": b""})}
    catalogue = declare(tmp_path, f"{{url: '{server.url}/toy.zip', member: toy.csv}}")
    (path,) = get(tmp_path, catalogue)
    assert path.read_bytes() == TEXT
    assert left(tmp_path) == ["toy.csv"]


def test_an_archive_in_the_mirror_folder_is_used(tmp_path):
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "toy+set.zip").write_bytes(zipped({"toy.csv": TEXT}))
    catalogue = declare(tmp_path, "{url: 'https://example.invalid/1/toy+set.zip', member: toy.csv}")
    (path,) = get(tmp_path, catalogue, mirror=tmp_path / "mirror", offline=True)
    assert path.read_bytes() == TEXT


def test_requests_are_repeated_for_a_busy_server_but_not_for_a_missing_page(server, tmp_path):
    server.pages = {"/busy": [503, 429, TEXT]}
    get(tmp_path, declare(tmp_path, f"{server.url}/gone", f"{server.url}/busy"))
    assert server.asked == ["/gone", "/busy", "/busy", "/busy"]


def test_a_truncated_download_is_repeated(server, tmp_path):
    server.pages = {"/cut": [b"CUT", TEXT]}
    (path,) = get(tmp_path, declare(tmp_path, f"{server.url}/cut"))
    assert path.read_bytes() == TEXT


def test_checksum_mismatch_names_file_address_and_way_out(server, tmp_path):
    server.pages = {"/wrong": b"something else"}
    with pytest.raises(RunError, match=rf"'toy.csv'.*'toy'.*--mirror.*/wrong: checksum mismatch.*{SHA[:12]}"):
        get(tmp_path, declare(tmp_path, f"{server.url}/wrong"))
    assert left(tmp_path) == []


def test_a_damaged_file_in_the_cache_is_not_used(tmp_path):
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "toy.csv").write_bytes(TEXT)
    catalogue = declare(tmp_path)
    (path,) = get(tmp_path, catalogue, mirror=tmp_path / "mirror")
    path.write_bytes(b"damaged")
    with pytest.raises(RunError, match="not in the cache and PUCLI_OFFLINE forbids the network"):
        get(tmp_path, catalogue, offline=True)
    get(tmp_path, catalogue, mirror=tmp_path / "mirror")
    assert path.read_bytes() == TEXT


def test_no_network(monkeypatch, tmp_path):
    monkeypatch.setattr(http_download, "_WAIT", 0.0)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    catalogue = declare(tmp_path, "http://127.0.0.1:9/toy.csv")  # the discard port: nobody listens
    with pytest.raises(
        RunError, match=r"^no network: cannot get 'toy.csv'.*--mirror.*no connection \(3 tries\)"
    ) as caught:
        get(tmp_path, catalogue)
    assert caught.value.exit_code == 1
    assert left(tmp_path) == []


def test_offline_says_what_to_run(tmp_path, monkeypatch):
    monkeypatch.setenv("PUCLI_OFFLINE", "1")
    with pytest.raises(RunError, match="pucli fetch toy` without it"):
        get(tmp_path, declare(tmp_path, "http://127.0.0.1:9/toy.csv"))


def test_a_file_without_address_says_where_to_put_it(tmp_path):
    with pytest.raises(RunError, match=r"no address is declared for 'toy.csv'.*put it at .*cache/toy/toy.csv"):
        get(tmp_path, declare(tmp_path))


def test_a_mirror_that_does_not_exist_is_wrong_usage(tmp_path):
    with pytest.raises(UsageError, match="neither a folder nor an address"):
        get(tmp_path, declare(tmp_path), mirror=tmp_path / "nowhere")


def test_no_space_left(tmp_path, monkeypatch):
    (tmp_path / "toy.csv").write_bytes(TEXT)

    def full(source, target, member=None, limit=None):
        target.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(download, "unpack", full)
    with pytest.raises(RunError, match=r"no space left in the cache .*cache; free some space or set PUCLI_DATA_DIR"):
        get(tmp_path, declare(tmp_path), mirror=tmp_path)
    assert left(tmp_path) == []


def test_a_cache_that_cannot_be_written(tmp_path):
    (tmp_path / "toy.csv").write_bytes(TEXT)
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(UsageError, match=r"cannot write to the cache .*PUCLI_DATA_DIR"):
        get(tmp_path, declare(tmp_path), mirror=tmp_path)


def test_an_answer_without_end_is_given_up_at_the_limit(server, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "_LARGEST", 500_000)
    sent = []

    def endless(handler):
        handler.send_response(200)
        handler.end_headers()
        with contextlib.suppress(OSError):
            while len(sent) < 2000:  # 131 MB
                handler.wfile.write(bytes(2**16))
                sent.append(2**16)

    server.pages = {"/endless": endless}
    with pytest.raises(RunError, match="/endless: larger than 500,000 bytes"):
        get(tmp_path, declare(tmp_path, f"{server.url}/endless"))
    assert server.asked == ["/endless"]
    assert left(tmp_path) == []


@pytest.mark.parametrize("early", [True, False], ids=["before the headers end", "after the headers"])
def test_an_answer_of_a_byte_now_and_then_is_given_up(early, server, tmp_path, monkeypatch):
    monkeypatch.setattr(http_download, "_PATIENCE", 0.2)

    def drip(handler):
        handler.wfile.write(b"HTTP/1.0 200 OK\r\nX: " if early else b"HTTP/1.0 200 OK\r\nContent-Length: 9999\r\n\r\n")
        with contextlib.suppress(OSError):
            for _ in range(9999):
                handler.wfile.write(b"x")
                if handler.server.over.wait(0.05):
                    return

    server.pages = {"/drip": drip, "/whole": TEXT}
    with pytest.raises(RunError, match=r"/drip: too slow: \d+ bytes in \d+ s\."):
        get(tmp_path, declare(tmp_path, f"{server.url}/drip"))
    assert left(tmp_path) == []
    monkeypatch.setattr(http_download, "_SLOWEST", 0)
    monkeypatch.setattr(http_download, "_LONGEST", 0.2)
    with pytest.raises(RunError, match="/drip: not complete after"):
        get(tmp_path, declare(tmp_path, f"{server.url}/drip"))
    monkeypatch.setattr(http_download, "_LONGEST", 3600.0)
    assert get(tmp_path, declare(tmp_path, f"{server.url}/whole"))[0].read_bytes() == TEXT


def test_silence_within_an_answer_is_named(server, tmp_path, monkeypatch):
    monkeypatch.setattr(http_download, "_TIMEOUT", 0.2)

    def stall(handler):
        handler.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Length: 9999\r\n\r\nx")
        handler.server.over.wait(10)

    server.pages = {"/stall": stall}
    with pytest.raises(RunError, match=r"no response within 0 s \(3 tries\)"):
        get(tmp_path, declare(tmp_path, f"{server.url}/stall"))


def test_a_length_that_is_no_number_is_named(server, tmp_path):
    def odd(handler):
        handler.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Length: many\r\n\r\n" + TEXT)

    server.pages = {"/odd": odd}
    with pytest.raises(RunError, match=r"/odd: ValueError.*many"):
        get(tmp_path, declare(tmp_path, f"{server.url}/odd"))


def test_a_declared_size_is_the_limit_of_the_content(server, tmp_path):
    sized = f"{SHA}\n      bytes: {len(TEXT)}"
    server.pages = {"/right": TEXT, "/packed": gzip.compress(TEXT), "/long": TEXT * 9999, "/short": TEXT[:-1]}
    server.pages["/bomb"] = gzip.compress(TEXT * 9999)
    for page in ("right", "packed"):
        get(tmp_path / page, declare(tmp_path, f"{server.url}/{page}", sha=sized))
    for page, problem in (
        ("long", f"larger than {len(TEXT) + 2**16:,} bytes"),
        ("bomb", f"more than {len(TEXT)} bytes"),
        ("short", f"{len(TEXT) - 1} bytes, and {len(TEXT)} are declared"),
    ):
        with pytest.raises(RunError, match=f"/{page}: .*{problem}"):
            get(tmp_path, declare(tmp_path, f"{server.url}/{page}", sha=sized))
    assert left(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_only_regular_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "toy.csv")
    for place in ((tmp_path / "toy.csv").as_uri(), "file:///dev/zero", "/dev/zero", tmp_path.as_uri()):
        with pytest.raises(RunError, match=f"{place}: not a regular file"):
            get(tmp_path, declare(tmp_path, place), offline=True)
    with pytest.raises(RunError, match="no such file"):
        get(tmp_path, declare(tmp_path), mirror=tmp_path)
    with pytest.raises(UsageError, match="neither a folder nor an address"):
        get(tmp_path, declare(tmp_path), mirror="/dev/zero")


def test_an_interrupted_download_leaves_nothing(server, tmp_path):
    server.pages = {"/toy": TEXT * 1000}

    def interrupt(name, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        get(tmp_path, declare(tmp_path, f"{server.url}/toy"), progress=interrupt)
    assert left(tmp_path) == []


def test_partial_files_of_a_killed_process_are_removed_after_a_day(tmp_path):
    (tmp_path / "toy.csv").write_bytes(TEXT)
    for name, age in ((".fetch-old", 2 * 86400), (".fetch-new", 60)):
        scratch = tmp_path / "cache" / "toy" / name
        scratch.mkdir(parents=True)
        (scratch / "content").write_bytes(b"half")
        os.utime(scratch, (time.time() - age,) * 2)
    get(tmp_path, declare(tmp_path), mirror=tmp_path)
    assert sorted(path.name for path in (tmp_path / "cache" / "toy").iterdir()) == [".fetch-new", "toy.csv"]


def test_concurrent_downloads_give_the_same_complete_file(server, tmp_path):
    server.pages = {"/toy": TEXT}
    catalogue = declare(tmp_path, f"{server.url}/toy")
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(lambda _: get(tmp_path, catalogue)[0].read_bytes(), range(16)))
    assert paths == [TEXT] * 16
    assert left(tmp_path) == ["toy.csv"]


def test_progress_ends_at_the_total(server, tmp_path):
    big = b"x" * 300_000
    server.pages = {"/big": big}
    seen: list[tuple[str, int, int | None]] = []
    catalogue = declare(tmp_path, f"{server.url}/big", sha=hashlib.sha256(big).hexdigest())
    get(tmp_path, catalogue, progress=lambda *state: seen.append(state))
    assert seen[-1] == ("toy.csv", len(big), len(big))
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)
    assert len(seen) > 2


def test_an_alternative_without_checksum_is_checked_by_its_content(tmp_path):
    good = load_toy(tmp_path / "a", TEXT, content=None).content_sha256
    assert load_toy(tmp_path / "b", TEXT, content=good, alternative=True).content_sha256 == good
    with pytest.raises(RunError, match="declared is"):
        load_toy(tmp_path / "c", b"a,class\n1,1\n3,0\n", content=good, alternative=True)


def load_toy(folder: Path, text: bytes, *, content: str | None, alternative: bool = False):
    (folder / "mirror").mkdir(parents=True)
    (folder / "mirror" / ("other.csv" if alternative else "toy.csv")).write_bytes(text)
    catalogue = declare(folder, extra=f"  content_sha256: {content}\n" if content else "")
    if alternative:
        declared = catalogue.read_text().replace("mirrors: []", "alternatives: [{name: other.csv}]")
        catalogue.write_text(declared)
    return load_dataset("toy", catalogue=catalogue, cache=folder / "cache", mirror=folder / "mirror", offline=True)


def zipped(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def tarred(members: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for info, content in members:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


HOSTILE = ["../../toy.csv", "/tmp/pucli-hostile/toy.csv", "..\\..\\toy.csv", "a/../../../toy.csv"]


@pytest.mark.parametrize("name", HOSTILE)
def test_paths_in_an_archive_cannot_leave_the_folder(name, tmp_path):
    room = tmp_path / "a" / "b" / "c"
    room.mkdir(parents=True)
    source, target = room / "hostile", room / "content"
    info = tarfile.TarInfo(name)
    for content in (zipped({name: TEXT}), tarred([(info, TEXT)])):
        source.write_bytes(content)
        try:
            unpack(source, target, "toy.csv")
        except ArchiveError:
            pass
        else:
            assert target.read_bytes() == TEXT
        written = {path for path in tmp_path.rglob("*") if path.is_file()}
        assert written <= {source, target}
    assert not Path("/tmp/pucli-hostile").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_in_a_tar_are_not_files(kind, tmp_path):
    info = tarfile.TarInfo("toy.csv")
    info.type, info.linkname = kind, "/etc/passwd"
    (tmp_path / "t.tar.gz").write_bytes(tarred([(info, b"")]))
    with pytest.raises(ArchiveError, match=r"no file 'toy\.csv'"):
        unpack(tmp_path / "t.tar.gz", tmp_path / "content", "toy.csv")
    assert not (tmp_path / "content").exists()


def test_a_decompression_bomb_is_stopped(tmp_path):
    zeros = bytes(1_000_000)
    for content, member in ((zipped({"toy.csv": zeros}), "toy.csv"), (gzip.compress(zeros), None)):
        (tmp_path / "bomb").write_bytes(content)
        with pytest.raises(ArchiveError, match="more than 10000 bytes"):
            unpack(tmp_path / "bomb", tmp_path / "content", member, limit=10_000)
        assert not (tmp_path / "content").exists() or (tmp_path / "content").stat().st_size <= 10_000
    assert archives.SIZE_LIMIT > 2**30


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["truncated", "flipped", "not an archive", "two of a name"])
def test_damaged_archives_are_named(damage, server, tmp_path):
    whole = zipped({"toy.csv": bytes(range(256)) * 20})
    content = {
        "truncated": whole[:-30],
        "flipped": whole[:60] + bytes([whole[60] ^ 255, whole[61] ^ 255]) + whole[62:],
        "not an archive": b"<html>not found</html>",
        "two of a name": zipped({"a/toy.csv": TEXT, "b/toy.csv": TEXT}),
    }[damage]
    server.pages = {"/toy.zip": content}
    catalogue = declare(tmp_path, f"{{url: '{server.url}/toy.zip', member: toy.csv}}")
    with pytest.raises(RunError, match=r"toy.zip: (damaged archive|neither a zip|more than one file|cannot unpack)"):
        get(tmp_path, catalogue)
    assert left(tmp_path) == []


def test_a_truncated_gz_in_the_mirror_is_named(tmp_path):
    (tmp_path / "toy.csv.gz").write_bytes(gzip.compress(TEXT * 100)[:-12])
    with pytest.raises(RunError, match=r"toy.csv.gz: damaged archive"):
        get(tmp_path, declare(tmp_path), mirror=tmp_path, offline=True)


def test_the_cache_folder_comes_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("PUCLI_DATA_DIR", str(tmp_path / "mine"))
    (tmp_path / "toy.csv").write_bytes(TEXT)
    (path,) = fetch(["toy"], catalogue=declare(tmp_path), mirror=tmp_path)
    assert path == tmp_path / "mine" / "toy" / "toy.csv"
    monkeypatch.delenv("PUCLI_DATA_DIR")
    assert download.cache_folder().name == "data"


def test_a_scratch_folder_that_vanishes_is_no_error(tmp_path, monkeypatch):
    """Between listing and looking another process may have removed its own."""
    from pucli.data.catalogue import download

    monkeypatch.setattr(Path, "glob", lambda self, pattern: [tmp_path / ".fetch-gone"])
    download._sweep(tmp_path)
