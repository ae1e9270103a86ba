"""A small static server for the built site: right types, precompressed files, lasting caches.

``python -m scripts.site.serve [--port 8000] [--prefix /docs/]``. It listens on this machine only.
For writing pages with live reload there is ``mkdocs serve``.
"""

import argparse
import functools
import http.server
import posixpath
import re
import sys
from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".xml": "application/xml",
    ".txt": "text/plain; charset=utf-8",
    ".png": "image/png",
}
CODINGS = {"br": ".br", "gzip": ".gz"}
ACCEPTED = re.compile(r"(\w+)\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[\d.]+)?\s*(?:,|$)")
HASHED = re.compile(r"[-.][0-9a-f]{8,}\b|/runtime/")


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves files of a folder below a prefix."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *args: Any, site: Path, prefix: str = "/", quiet: bool = False) -> None:
        self.site, self.prefix, self.quiet = site, prefix, quiet
        super().__init__(*args)

    def do_GET(self) -> None:
        """Answer with a file."""
        self.answer(body=True)

    def do_HEAD(self) -> None:
        """Answer with a file's headers."""
        self.answer(body=False)

    def answer(self, *, body: bool) -> None:
        """Find the file and send it, or the page for missing ones."""
        path = urlsplit(self.path).path
        if not path.startswith(self.prefix):
            self.redirect(self.prefix)
            return
        found = self.locate(unquote(path.removeprefix(self.prefix)))
        if found is not None and found.is_dir():
            self.redirect(f"{path}/")
            return
        status = HTTPStatus.OK if found else HTTPStatus.NOT_FOUND
        self.send(status, found or self.site / "404.html", body=body)

    def locate(self, name: str) -> Path | None:
        """The file of a name within the site, never outside it."""
        wanted = posixpath.normpath(f"/{name}").lstrip("/")
        folder = name.endswith("/") or not name
        try:
            path = (self.site / wanted).resolve()
            if not path.is_relative_to(self.site):
                return None
            if path.is_dir() and not folder:
                return path
            path = path / "index.html" if folder else path
            return path if path.is_file() else None
        except (OSError, ValueError):  # longer than a name may be; a NUL
            return None

    def redirect(self, where: str) -> None:
        """Send the reader to another address of this site."""
        self.send_response(HTTPStatus.FOUND)
        self.send_header("Location", where)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def send(self, status: HTTPStatus, path: Path, *, body: bool) -> None:
        """Send a file, precompressed where the browser takes it and the file is there."""
        if not path.is_file():
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        coding, chosen = self.best(path)
        about = chosen.stat()
        version = f'"{about.st_mtime_ns:x}-{about.st_size:x}"'
        if status is HTTPStatus.OK and self.headers.get("If-None-Match") == version:
            self.send_unchanged(version)
            return
        self.send_response(status)
        self.send_header("Content-Type", TYPES.get(path.suffix, "application/octet-stream"))
        self.send_header("Content-Length", str(about.st_size))
        self.send_header("ETag", version)
        lasting = HASHED.search(urlsplit(self.path).path) and status is HTTPStatus.OK
        self.send_header(
            "Cache-Control", "public, max-age=31536000, immutable" if lasting else "no-cache"
        )
        self.send_header("X-Content-Type-Options", "nosniff")
        # Everything is public, and a calculator in a sandboxed frame asks from no origin.
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Vary", "Accept-Encoding")
        if coding:
            self.send_header("Content-Encoding", coding)
        self.end_headers()
        if body:
            self.wfile.write(chosen.read_bytes())

    def send_unchanged(self, version: str) -> None:
        """Say that the browser's copy is current."""
        self.send_response(HTTPStatus.NOT_MODIFIED)
        self.send_header("ETag", version)
        self.send_header("Vary", "Accept-Encoding")
        self.end_headers()

    def best(self, path: Path) -> tuple[str, Path]:
        """The coding to use, and the file that has it."""
        accepted = re.findall(ACCEPTED, self.headers.get("Accept-Encoding", "").lower())
        for coding, suffix in CODINGS.items():
            packed = path.with_name(path.name + suffix)
            if coding in accepted and packed.is_file():
                return coding, packed
        return "", path

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Log failures only."""
        if not self.quiet and len(args) > 1 and str(args[1]) >= "400":
            super().log_message(format, *args)


class Server(http.server.ThreadingHTTPServer):
    """A server that says nothing of readers who leave in the middle."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report what is not just a closed connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def server(site: Path, port: int, prefix: str = "/", *, quiet: bool = False) -> Server:
    """A server of a built site; port 0 takes a free one."""
    handler = functools.partial(Handler, site=site.resolve(), prefix=prefix, quiet=quiet)
    return Server(("127.0.0.1", port), handler)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", type=Path, default=Path("site"))
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--prefix", default="/")
    options = parser.parse_args(arguments)
    serving = server(options.site, options.port, options.prefix)
    host, port = serving.server_address[:2]
    print(f"English: http://{host!s}:{port}{options.prefix}")
    print(f"中文:    http://{host!s}:{port}{options.prefix}zh/")
    try:
        serving.serve_forever()
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    main()
