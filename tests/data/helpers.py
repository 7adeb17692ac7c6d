"""What tests of files share."""

from __future__ import annotations

import zipfile

import pytest

from pucli.core.errors import UsageError
from pucli.data.files.tables import open_table


def refused(path, *words, label="y"):
    with pytest.raises(UsageError) as caught:
        open_table(path, label)
    message = str(caught.value)
    assert str(path) in message and "\n" not in message
    for word in words:
        assert word in message
    return message


def write_ods(path, sheets, styles=""):
    """Write an ODS file with these elements `table:table`, and these styles of them."""
    names = ["office", "table", "text", "style"]
    spaces = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in names)
    spaces += ' xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"'
    body = f"<office:automatic-styles>{styles}</office:automatic-styles>"
    body += f"<office:body><office:spreadsheet>{sheets}</office:spreadsheet></office:body>"
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("content.xml", f"<office:document-content {spaces}>{body}</office:document-content>")
        archive.writestr(
            "META-INF/manifest.xml",
            f'<m:manifest xmlns:m="{manifest}"><m:file-entry m:full-path="/" m:media-type="{kind}"/>'
            '<m:file-entry m:full-path="content.xml" m:media-type="text/xml"/></m:manifest>',
        )
