"""The small server: right types, precompressed files, nothing outside its folder."""

import http.client
import threading

import pytest

from scripts.site.serve import CODINGS, TYPES, server

FILES = {
    "index.html": b"<p>home</p>",
    "404.html": b"<p>missing</p>",
    "kv/index.html": b"<p>kv</p>",
    "assets/app.mjs": b"export {}",
    "assets/app.mjs.br": b"brotli",
    "assets/app.mjs.gz": b"gzip",
    "assets/runtime/0.29.5-0123456789/pyodide.asm.wasm": b"\0asm",
    "assets/site-0123456789.css": b"p {}",
    "data.bin": b"?",
    "空 格.txt": "中".encode(),
    "empty/.keep": b"",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A site, and a file beside it that is none of its business."""
    root = tmp_path_factory.mktemp("served")
    for name, data in FILES.items():
        path = root / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (root / "secret.txt").write_bytes(b"secret")
    (root / "site" / "out").symlink_to(root / "secret.txt")
    return root / "site"


@pytest.fixture(scope="module", params=["/", "/docs/"])
def get(request, folder):
    """A function that asks the server, at the root and below a prefix."""
    prefix = request.param
    serving = server(folder, 0, prefix, quiet=True)
    thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()

    def ask(path, accept="", method="GET", version=""):
        connection = http.client.HTTPConnection(*serving.server_address[:2], timeout=20)
        headers = {"Accept-Encoding": accept} if accept else {"Accept-Encoding": "identity"}
        if version:
            headers["If-None-Match"] = version
        connection.request(method, f"{prefix}{path}", headers=headers)
        reply = connection.getresponse()
        body = reply.read()
        connection.close()
        return reply, body

    ask.prefix = prefix
    yield ask
    serving.shutdown()
    serving.server_close()
    thread.join()


@pytest.mark.parametrize(
    ("path", "kind", "body"),
    [
        pytest.param("", "text/html; charset=utf-8", b"<p>home</p>", id="home"),
        pytest.param("kv/", "text/html; charset=utf-8", b"<p>kv</p>", id="page"),
        pytest.param("kv/?c=kv&layers=3", "text/html; charset=utf-8", b"<p>kv</p>", id="query"),
        pytest.param("assets/app.mjs", TYPES[".mjs"], b"export {}", id="module"),
        pytest.param("data.bin", "application/octet-stream", b"?", id="unknown type"),
        pytest.param(
            "assets/runtime/0.29.5-0123456789/pyodide.asm.wasm",
            "application/wasm",
            b"\0asm",
            id="WebAssembly",
        ),
        pytest.param("%E7%A9%BA%20%E6%A0%BC.txt", TYPES[".txt"], "中".encode(), id="any name"),
    ],
)
def test_files(get, path, kind, body):
    """A file comes whole, with the type that browsers insist on."""
    reply, got = get(path)

    assert (reply.status, reply.getheader("Content-Type"), got) == (200, kind, body)
    assert reply.getheader("X-Content-Type-Options") == "nosniff"


@pytest.mark.parametrize(
    ("accept", "coding", "body"),
    [
        pytest.param("gzip, deflate, br", "br", b"brotli", id="brotli first"),
        pytest.param("gzip", "gzip", b"gzip", id="gzip"),
        pytest.param("deflate", None, b"export {}", id="neither"),
        pytest.param("br;q=0, gzip", "gzip", b"gzip", id="brotli ruled out"),
        pytest.param("", None, b"export {}", id="as it is"),
    ],
)
def test_precompressed(get, accept, coding, body):
    """A packed copy is sent to those who take it, with the type of the file itself."""
    reply, got = get("assets/app.mjs", accept)

    assert (reply.getheader("Content-Encoding"), got) == (coding, body)
    assert reply.getheader("Content-Type") == TYPES[".mjs"]
    assert reply.getheader("Vary") == "Accept-Encoding"
    assert {*CODINGS} == {"br", "gzip"}


def test_a_current_copy_is_not_sent_again(get):
    """A browser that names the version it holds is told so, and of each coding there is one."""
    plain, _ = get("assets/app.mjs")
    version = plain.getheader("ETag")
    reply, body = get("assets/app.mjs", version=version)
    packed, _ = get("assets/app.mjs", "br", version=version)

    assert (reply.status, reply.getheader("ETag"), body) == (304, version, b"")
    assert packed.status == 200


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("../secret.txt", id="above"),
        pytest.param("..%2fsecret.txt", id="encoded slash"),
        pytest.param("%2e%2e/secret.txt", id="encoded dots"),
        pytest.param("kv/../../secret.txt", id="from within"),
        pytest.param("..%5csecret.txt", id="backslash"),
        pytest.param("out", id="link that leads outside"),
        pytest.param("/etc/passwd", id="absolute"),
        pytest.param("%00", id="NUL"),
        pytest.param("index.html%00.txt", id="NUL within"),
        pytest.param("x" * 300, id="longer than a file name may be"),
        pytest.param("x/" * 3000, id="longer than a path may be"),
        pytest.param("%ff%fe", id="no UTF-8"),
        pytest.param("unheard/", id="no such page"),
        pytest.param("index.html/", id="file as a folder"),
        pytest.param("empty/", id="folder without a page"),
    ],
)
def test_what_is_not_there_is_the_page_for_that(get, path):
    """Nothing outside the folder is sent; all that is missing gets 404 and our own page."""
    reply, got = get(path)

    assert (reply.status, got) == (404, b"<p>missing</p>")


def test_a_folder_leads_to_its_page(get):
    """A folder without the slash is redirected, so that relative links work."""
    reply, _ = get("kv")

    assert (reply.status, reply.getheader("Location")) == (302, f"{get.prefix}kv/")


def test_head(get):
    """HEAD has the headers of GET and no body: the worker asks for a type that way."""
    reply, got = get("assets/runtime/0.29.5-0123456789/pyodide.asm.wasm", method="HEAD")

    assert (reply.getheader("Content-Type"), reply.getheader("Content-Length")) == (
        "application/wasm",
        "4",
    )
    assert got == b""


@pytest.mark.parametrize(
    ("expected", "path"),
    [
        pytest.param(True, "assets/site-0123456789.css", id="hash in the name"),
        pytest.param(True, "assets/runtime/0.29.5-0123456789/pyodide.asm.wasm", id="runtime"),
        pytest.param(False, "kv/", id="page"),
        pytest.param(False, "kv/?v=-0123456789", id="hash in the query only"),
        pytest.param(False, "unheard-0123456789.css", id="missing"),
    ],
)
def test_only_named_content_is_kept_for_ever(get, expected, path):
    """Files whose name holds their hash may be kept; pages are asked for again."""
    reply, _ = get(path)

    assert ("immutable" in reply.getheader("Cache-Control")) is expected


def test_outside_the_prefix(folder):
    """An address outside the prefix leads to the site."""
    serving = server(folder, 0, "/docs/", quiet=True)
    thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    connection = http.client.HTTPConnection(*serving.server_address[:2], timeout=20)
    connection.request("GET", "/")
    reply = connection.getresponse()
    reply.read()
    connection.close()
    serving.shutdown()
    serving.server_close()
    thread.join()

    assert (reply.status, reply.getheader("Location")) == (302, "/docs/")
