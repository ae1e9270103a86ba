"""Pages of measurements: honest tables, one provenance a row, the same page in both languages."""

import json
import re
from xml.etree import ElementTree as ET

import pytest
from pymdownx.superfences import SuperFencesException

from calculators.form.errors import ParameterError
from calculators.show.labels import LANGUAGES
from scripts.archive.store import ROOT, Addition, Archive, add
from scripts.bench.report import document, start
from scripts.site import archive_fence, archive_files, fences
from scripts.site.archive_cite import bibtex, dataset, in_tex, page_url
from scripts.site.archive_files import ArchiveDamagedError, added, copies, require_whole
from scripts.site.archive_index import by_model
from scripts.site.archive_links import resolved
from scripts.site.archive_records import shelf
from scripts.site.archive_words import remark, title, words

HOME = "https://example.org/guides/"
PUBLISHED = ("f744fc8f6c1e13a1", "c2b46f3d199c3648", "48018cc82f07ad00")
ATOM = "{http://www.w3.org/2005/Atom}"


def report(scale, n):
    """A file of our own timing: n warm calls at one length, and the checkpoint's load."""
    return {
        "schema": "critical-path/router-latency",
        "version": 1,
        "command": "python3 scripts/bench_decide.py <a> & b",
        "dtype": "float32",
        "device": {"asked": "cpu", "used": "cpu", "name": "CPU"},
        "checkpoint": {"model": "m_1", "weights": "random"},
        "one_off_ms": {"checkpoint_load": 800.0},
        "runs": [
            {
                "boundary": "router_decide",
                "prompt_tokens": 15,
                "cold_ms": 180.0,
                "warm_ms": [scale * (100.0 + value) for value in range(1, n + 1)],
            }
        ],
    }


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """Two files of ours, the second one three times as slow, as the archive that fences read."""
    found = Archive(root=tmp_path / "archive")
    for name, scale, n in (("a.json", 1, 25), ("b.json", 3, 72)):
        (tmp_path / name).write_text(json.dumps(report(scale, n)))
        add(found, Addition(path=tmp_path / name, kind="measured_here"))
    monkeypatch.setattr(archive_fence, "ROOT", found.root)
    monkeypatch.setattr(archive_fence, "draw_plots", lambda html: html)
    return found


def runs(archive):
    """The ids of the two timed runs, the faster one first."""
    timed = [e for e in shelf(archive.root).values() if e.boundary == "router_decide"]
    return [entry.id for entry in sorted(timed, key=lambda entry: entry.row.p50)]


def text_of(html):
    """What a reader sees of HTML."""
    return re.sub(r"<[^>]+>", " ", html).replace("\xa0", " ")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_published_table(lang):
    """The seeds' rows with their conditions, each linked, without an interval that nobody has."""
    html = archive_fence.measurements_html(f"ids = {', '.join(PUBLISHED)}", lang)
    seen = text_of(html)

    assert [f"here:/measurements/{name}/" for name in PUBLISHED] == re.findall(
        r'href="(.*?)"', html
    )
    assert all(part in seen for part in ("71 ms", "334 ms", "917 – ", "1,029 ms", "963 ms"))
    assert all(part in seen for part in ("sft-2e9f", "3520b40d", "float32", "Qwen/Qwen3-0.6B"))
    assert html.count("n = 1<") == 3
    assert "≥" not in seen


@pytest.mark.parametrize("lang", LANGUAGES)
def test_25_samples_have_no_upper_bound_for_p95(archive, lang):
    """The median stands with X(8) and X(18), the p95 with X(22) alone."""
    html = archive_fence.measurements_html(f"ids = {runs(archive)[0]}", lang)
    seen = text_of(html)

    assert "108 – 118 ms" in seen
    assert "≥ 122 ms" in seen
    assert "R-7" in seen


def test_72_samples_bound_the_p95(archive):
    """With 72 samples both ends are samples."""
    seen = text_of(archive_fence.measurements_html(f"ids = {runs(archive)[1]}", "en"))

    assert "no upper bound" not in seen


def test_hidden_provenance_fails_the_build(archive):
    """Rows of two artefacts need an origin in every row."""
    source = f"ids = {', '.join(runs(archive))}"
    with pytest.raises(SuperFencesException, match="provenance_hidden"):
        fences.measurements_en(source, "", "", {}, None)
    html = archive_fence.measurements_html(f"{source}\nprovenance = rows", "en")

    for name in runs(archive):
        artefact = shelf(archive.root)[name].row.artefact

        assert artefact[:12] in html


def test_order_only_where_intervals_allow_it(archive):
    """Two runs apart are put in order; rows without intervals are refused one."""
    slow_first = f"ids = {', '.join(reversed(runs(archive)))}\nprovenance = rows\norder = p50"
    html = archive_fence.measurements_html(slow_first, "en")

    assert runs(archive) == re.findall(r"here:/measurements/(\w+)/", html)
    with pytest.raises(ParameterError, match="no_ranking"):
        archive_fence.ordered([shelf()[name] for name in PUBLISHED])


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("ids = 0000000000000000", id="unknown id"),
        pytest.param("kind = imagined", id="query without answer"),
        pytest.param("colour = red", id="unknown option"),
        pytest.param("kind = imported\nkind = imported", id="option twice"),
        pytest.param("show = unheard", id="unknown part"),
        pytest.param(f"ids = {', '.join(PUBLISHED)}\nshow = samples", id="part of several"),
        pytest.param(f"ids = {PUBLISHED[0]}\nprovenance = none", id="unknown provenance"),
        pytest.param(f"ids = {PUBLISHED[0]}\norder = p95", id="unknown order"),
    ],
)
def test_a_mistake_fails_the_build(source):
    """Unknown measurements, options and parts raise."""
    with pytest.raises(SuperFencesException):
        fences.measurements_en(source, "", "", {}, None)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_figure_within_a_line(lang):
    """It links to its measurement; a figure that the record does not state raises."""
    html = archive_fence.measured_html("f744fc8f6c1e13a1 run_time p50", lang)

    assert "71 ms" in text_of(html)
    assert "here:/measurements/f744fc8f6c1e13a1/" in html
    with pytest.raises(LookupError, match="states no"):
        archive_fence.measured_html("f744fc8f6c1e13a1 ttft p50", lang)


@pytest.mark.parametrize(
    ("expected", "url", "lang"),
    [
        pytest.param(("archive/x", "measurements/x/"), "", "en", id="home"),
        pytest.param(("../archive/x", "../measurements/x/"), "latency/", "en", id="page"),
        pytest.param(
            ("../../archive/x", "../measurements/x/"), "latency/", "zh", id="Chinese page"
        ),
        pytest.param(
            ("../../../archive/x", "../../measurements/x/"), "measurements/y/", "zh", id="deep"
        ),
    ],
)
def test_addresses_are_relative(expected, url, lang):
    """Generated links work below any path."""
    html = '<a href="site:/archive/x"></a><a href="here:/measurements/x/"></a>'

    assert list(expected) == re.findall(r'href="(.*?)"', resolved(html, url=url, lang=lang))


def pages(root, *, second):
    """{path: Markdown} of the generated pages."""
    files = added(second=second, root=HOME, archive=root)
    return {one.path: one.text for one in files if one.path.endswith(".md")}


def test_pages_are_twins(archive):
    """Both languages have the same pages with the same anchors, fences and links."""
    english, chinese = (pages(archive.root, second=second) for second in (False, True))

    def bones(text):
        return (
            re.findall(r"\{#([\w-]+)", text),
            re.findall(r"```measurements\n(.*?)```", text, re.DOTALL),
            re.findall(r"\]\((.*?)\)", text),
        )

    assert [bones(text) for text in english.values()] == [bones(t) for t in chinese.values()]
    assert english.keys() == chinese.keys()
    assert 4 == len(english)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_part_of_every_page_renders(archive, lang):
    """No part of a page lacks a wording, whatever the record states."""
    for root in (archive.root, ROOT):
        for text in pages(root, second=lang == "zh").values():
            for source in re.findall(r"```measurements\n(.*?)```", text, re.DOTALL):
                asked = archive_fence.options(source)
                [entry] = archive_fence.chosen(asked, shelf(root))
                html = archive_fence.PARTS[asked["show"]](entry, words(lang))

                assert html.count("<table") == html.count("</table>")


def test_samples_are_all_shown(archive):
    """Every warm sample and the first call stand in the table of the plot."""
    html = archive_fence.measurements_html(f"ids = {runs(archive)[0]}\nshow = samples", "en")
    [body] = re.findall(r"<tbody>(.*?)</tbody>", html)

    assert 26 == body.count("<tr>")


def test_a_correction_is_named_on_both_pages(archive, tmp_path):
    """The old page warns of the new one, the new page names the old one; neither goes away."""
    old = runs(archive)[0]
    (tmp_path / "c.json").write_text(json.dumps(report(2, 25)))
    shelf.cache_clear()
    [new, _] = add(
        archive,
        Addition(path=tmp_path / "c.json", kind="measured_here", supersedes=old),
    )
    made = pages(archive.root, second=False)

    assert f"({new}.md)" in made[f"measurements/{old}.md"].partition("## ")[0]
    assert f"({old}.md)" in made[f"measurements/{new}.md"].partition("{#history}")[2]
    shelf.cache_clear()


def test_the_description_for_machines(archive):
    """It is strict JSON with absolute addresses and the hashes of both files."""
    entry = shelf(archive.root)[runs(archive)[0]]
    about = dataset(entry, words("zh"), root=HOME, url=page_url(entry, HOME, "zh"))
    again = json.loads(json.dumps(about, allow_nan=False))

    assert "Dataset" == again["@type"]
    assert f"{HOME}zh/measurements/{entry.id}/" == again["url"]
    assert [entry.record["stored"]["sha256"], entry.record_sha256] == [
        part["sha256"] for part in again["distribution"]
    ]
    assert "creator" in again
    assert "creator" not in dataset(shelf()[PUBLISHED[0]], words("en"), root=HOME, url=HOME)


def test_citation(archive):
    """BibTeX has no bare character that TeX acts on."""
    entry = shelf(archive.root)[runs(archive)[0]]
    cited = bibtex(entry, words("en"), page_url(entry, HOME, "en"))

    assert cited.startswith(f"@misc{{critical-path-{entry.id},")
    assert r"m\_1" in cited
    assert cited.count("{") == cited.count("}")
    assert r"50\% \& \#1 \textasciitilde{}" == in_tex("50% & #1 ~")


def test_index_json_and_feed(archive):
    """Both list every measurement once; an absent bound is null."""
    files = {one.path: one.text for one in added(second=False, root=HOME, archive=archive.root)}
    items = json.loads(files["measurements/index.json"])["items"]
    feed = ET.fromstring(files["measurements/feed.xml"])  # noqa: S314 -- our own text
    by_id = {item["id"]: item for item in items}

    assert sorted(shelf(archive.root)) == sorted(by_id)
    assert [122.0, None] == by_id[runs(archive)[0]]["p95_interval_95"]
    assert sorted(item["page"]["en"] for item in items) == sorted(
        entry.findtext(f"{ATOM}id") for entry in feed.iter(f"{ATOM}entry")
    )


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_index_holds_every_row_in_every_order(archive, lang):
    """Three orders of the same rows, none of them by speed."""
    html = archive_fence.measurements_html("show = index", lang)
    orders = {
        part.partition('data-order="')[2].partition('"')[0]: re.findall(
            r"here:/measurements/(\w+)/", part
        )
        for part in html.split('class="cp-order"')[1:]
    }
    entries = shelf(archive.root).values()

    assert [sorted(shelf(archive.root))] * 3 == [sorted(order) for order in orders.values()]
    assert [entry.id for entry in sorted(entries, key=by_model)] == orders["models"]


def test_a_damaged_archive_is_not_built(archive):
    """A flipped byte or a removed original stops the build with the file's name."""
    require_whole(archive.root)
    [first, second] = sorted(archive.artefacts.iterdir())
    data = first.read_bytes()
    first.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    with pytest.raises(ArchiveDamagedError, match=f"{first.name} was changed"):
        require_whole(archive.root)
    first.write_bytes(data)
    second.unlink()
    with pytest.raises(ArchiveDamagedError, match=f"{second.name} is missing"):
        require_whole(archive.root)


def test_our_archive_is_whole():
    """The committed archive verifies, and the site offers each of its files."""
    require_whole()
    offered = {one.path for one in copies(ROOT)}

    assert {entry.artefact_path for entry in shelf().values()} <= offered
    assert {entry.record_path for entry in shelf().values()} <= offered


def test_titles_are_told_apart():
    """No two measurements of the archive have the same title in a language."""
    for lang in LANGUAGES:
        names = [title(entry, words(lang)) for entry in shelf().values()]

        assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_random_weights_are_marked_wherever_they_are_named(archive, lang):
    """Titles, pages, tables with and without origin, index, feed and index.json all say so."""
    labels = words(lang)
    mark = labels.text("subject.timing_only", {"model": "m_1"})
    [name, _] = runs(archive)
    files = {one.path: one.text for one in added(second=False, root=HOME, archive=archive.root)}
    listed = archive_fence.measurements_html("show = index", lang)
    rows = archive_fence.measurements_html(f"ids = {name}\nprovenance = rows", lang)

    assert mark in title(shelf(archive.root)[name], labels)
    assert len(shelf(archive.root)) * 3 == listed.count(mark)
    assert mark in rows.partition("</table>")[0]
    assert mark in archive_fence.measurements_html(f"ids = {name}\nshow = conditions", lang)
    assert labels.text("warning.random_weights") in text_of(
        archive_fence.measurements_html(f"ids = {name}", lang)
    )
    assert all(
        item["timing_only"] for item in json.loads(files["measurements/index.json"])["items"]
    )


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_prompt_cut_by_the_encoder_says_so_beside_its_length(lang):
    """The 1,024-token rows of the default encoder state that it saw 512 tokens; others do not."""
    source = "kind = measured_here\nmodel = all-minilm-l6-v2\nprovenance = rows"
    html = archive_fence.measurements_html(source, lang)
    seen = words(lang).text("cell.seen", {"count": "512"})
    long = [e for e in shelf().values() if e.seen_tokens is not None]

    assert {1024} == {entry.prompt_tokens for entry in long}
    assert len(long) == html.count(f"<small>{seen}</small>")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_bench_has_a_page_too(tmp_path, monkeypatch, lang):
    """A file of our benches gives one page a bench with every figure under its own name."""
    figures = [("edit to answer, p50 of 2", 1.5, "ms", [1.0, 2.0]), ("stock / ours", 1.75, "times")]
    path, archive = tmp_path / "bench.json", Archive(root=tmp_path / "archive")
    path.write_text(json.dumps(document({"site": ("The wait.", figures)}, start(), ["site"])))
    [name] = add(archive, Addition(path=path, kind="measured_here"))
    monkeypatch.setattr(archive_fence, "ROOT", archive.root)
    monkeypatch.setattr(archive_fence, "draw_plots", lambda html: html)
    [markdown] = pages(archive.root, second=lang == "zh").values()
    shown = [
        archive_fence.measurements_html(source, lang)
        for source in re.findall(r"```measurements\n(.*?)```", markdown, re.DOTALL)
    ]

    assert words(lang).text("subject.bench", {"name": "site"}) in markdown
    assert "stock / ours" in text_of(shown[0])
    assert f"here:/measurements/{name}/" in archive_fence.measurements_html("show = index", lang)


def test_remarks_have_both_languages():
    """Every remark and source of a record of ours is worded in Chinese, by its exact text."""
    kept = {str(text) for e in shelf().values() for text in e.given.get("remarks") or []}
    kept |= {str(e.given["source"]) for e in shelf().values() if e.given.get("source")}

    assert kept
    assert [] == [text for text in kept if remark(text, words("zh")) == text]
    assert "as it is" == remark("as it is", words("zh"))


def test_wording_is_whole():
    """Both languages of the pages have the same keys."""
    assert words("en").texts.keys() == words("zh").texts.keys()
    assert archive_files.LANGUAGES == LANGUAGES
