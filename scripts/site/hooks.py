"""The only file that knows MkDocs: builds the second language after the first, finishes pages.

The English configuration is the one that ``mkdocs build`` and ``mkdocs serve`` are given. After
it is built, this hook builds ``mkdocs.zh.yml`` into ``zh/`` of the same folder, with the same
address and strictness, so that both commands give both languages.
"""

import posixpath
import sys
from pathlib import Path

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

from scripts.cache import write_whole
from scripts.site import cards, cite, embed, runtime, theme_files
from scripts.site.archive_files import ArchiveDamagedError, added, require_whole
from scripts.site.archive_links import resolved
from scripts.site.pages import FOLDERS, finished, with_named_search, with_policy
from scripts.site.parts import with_parts

SECOND = "zh"
OURS = ("calculators", "scripts.site")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Name the hashed assets in every page."""
    current = runtime.current()
    up = "../" if is_second(config) else ""
    config.extra_css = [f"{up}assets/{current.style}"]
    config.extra["bridge"] = f"{up}assets/{current.bridge}"
    langs = config.plugins["material/search"].config.lang or ["en"]
    config.extra["searching"] = theme_files.searching(langs)
    return config


def forget_code() -> None:
    """Let the next build import our modules anew: a live reload shows edited code and labels.

    It comes after a build and not before one, since a configuration that is being read already
    holds functions of these modules.
    """
    for name in [n for n in sys.modules if n.startswith(OURS) and n != __name__]:
        del sys.modules[name]


def is_second(config: MkDocsConfig) -> bool:
    """Whether this is the build of the second language."""
    return str(config.theme["language"]) == SECOND


def on_pre_build(config: MkDocsConfig) -> None:
    """Build nothing from an archive of measurements that is not as it was written."""
    if not is_second(config):
        try:
            require_whole()
        except ArchiveDamagedError as error:
            raise PluginError(str(error)) from None


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each measurement, the feed and, once, the archive's own files."""
    for one in added(second=is_second(config), root=root_url(config)):
        content = {"content": one.text} if one.copied is None else {"abs_src_path": str(one.copied)}
        files.append(
            File.generated(config, one.path, **content, inclusion=InclusionLevel.NOT_IN_NAV)
        )
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Give the template what a page says of itself, and the sitemap its date."""
    del files
    page.meta["about"] = about = cite.about(
        title=str(page.meta.get("title") or page.title),
        source=page.file.src_uri,
        url=page.url,
        lang="zh" if is_second(config) else "en",
        root=root_url(config),
    )
    # A generated page has no history but its own date; a copy without history has today's.
    page.update_date = about["changed"] or page.meta.get("added") or page.update_date
    if page.url.startswith("measurements/") and page.url != "measurements/":
        page.meta["search"] = {"boost": 0.5}  # the guides first, what they rest on below
    return markdown


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let what is out of sight of a guide stay unlaid; a page of a measurement is short."""
    del config, files
    return html if page.url.startswith("measurements/") else with_parts(html)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Addresses of generated links, absolute alternates, the language switcher and the policy."""
    lang = str(config.theme["language"])
    output = theme_files.with_names(resolved(output, url=page.url, lang=lang))
    return finished(output, root=root_url(config), url=page.url, lang=lang)


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    """The page for addresses that do not exist is finished as far as it needs."""
    if template_name != "404.html":
        return output_content
    named = with_named_search(output_content, str(config.theme["language"]))
    return with_policy(theme_files.with_names(named))


def root_url(config: MkDocsConfig) -> str:
    """The address of the English home page."""
    site_url = config.site_url or "/"
    return site_url.removesuffix(f"{SECOND}/") if is_second(config) else site_url


def write_beside(site: Path, root: str) -> None:
    """Write what is in no navigation: pictures for links, pages for frames, a word to crawlers."""
    maps = "".join(f"Sitemap: {root}{folder}sitemap.xml\n" for folder in FOLDERS.values())
    write_whole(site / "robots.txt", f"User-agent: *\nAllow: /\n\n{maps}".encode())
    for path, picture in cards.pictures():
        write_whole(site / path, picture)
    sheets = sorted((site / "assets/stylesheets").glob("[mp]*.min.css"))  # main, palette
    styles = [sheet.relative_to(site).as_posix() for sheet in sheets]
    for path, html in embed.pages(root, styles):
        write_whole(site / path, html.encode())


def on_post_build(config: MkDocsConfig) -> None:
    """Write the runtime once, then build the second language beside the first."""
    site = Path(config.site_dir)
    for script in theme_files.scripts():
        script.write(site)
    if is_second(config):
        (site / "404.html").unlink(missing_ok=True)  # hosts know one, at the root
        return
    runtime.write(runtime.current(), site)
    second = load_config(
        str(Path(config.config_file_path).with_name(f"mkdocs.{SECOND}.yml")),
        site_dir=str(site / SECOND),
        site_url=posixpath.join(config.site_url or "/", SECOND, ""),
        strict=config.strict,
    )
    second.plugins.on_startup(command="build", dirty=False)
    build(second)
    write_beside(site, root_url(config))
    forget_code()
