"""The running server, asked as a stranger would: loopback alone, and nothing left behind."""

import http.client
import socket
import sys

import pytest

pytest.importorskip("shiny")
pytest.importorskip("typer")


def ask(server, path, headers=None, method="GET"):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.putrequest(method, path, skip_host=headers is not None and "Host" in headers)
    for name, value in (headers or {}).items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def test_the_page_is_there_with_the_token_alone(server):
    assert ask(server, f"/{server.token}/")[0] == 200
    assert ask(server, "/")[0] == 403
    assert ask(server, "/lib/shiny/shiny.js")[0] == 403
    assert ask(server, f"/{server.token[:-1]}/")[0] == 403


def test_a_page_of_another_name_is_refused(server):
    host = {"Host": f"evil.example:{server.port}"}
    assert ask(server, f"/{server.token}/", host)[0] == 403
    origin = {"Origin": "http://evil.example"}
    assert ask(server, f"/{server.token}/", origin)[0] == 403


def test_an_upload_that_is_too_large_is_refused(server):
    size = {"Content-Length": "600000000"}
    status, body = ask(server, f"/{server.token}/session/x/upload/y", size, "POST")
    assert status == 413
    assert b"512 MB" in body


@pytest.mark.parametrize(
    "path",
    ["/../../../etc/passwd", "/lib/../../../../etc/passwd", "/lib/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
     "/session/x/dynamic_route/..%2f..%2fetc%2fpasswd", "/%2fetc%2fpasswd"],
)  # fmt: skip
def test_no_file_of_the_machine_is_given_out(server, path):
    status, body = ask(server, f"/{server.token}{path}")
    assert status in (400, 403, 404)
    assert b"root:" not in body


def test_other_addresses_of_the_machine_are_not_listened_on(server):
    own = socket.gethostbyname(socket.gethostname())
    if own.startswith("127."):
        pytest.skip("the machine has no other address")
    with socket.socket() as other:
        other.settimeout(2)
        assert other.connect_ex((own, server.port)) != 0


def test_the_folder_is_for_its_owner_alone(server):
    if sys.platform == "win32":
        pytest.skip("Windows has other rights")
    (folder,) = server.folder.glob("ksupport-app-*")
    assert folder.stat().st_mode & 0o077 == 0


def test_ctrl_c_ends_it_and_removes_all(start, tmp_path):
    started = start(tmp_path)
    out, err = started.end()
    assert started.process.returncode == 0
    assert "Traceback" not in err
    assert list(tmp_path.glob("ksupport-app-*")) == []


def test_a_port_that_is_taken_is_told(server):
    import subprocess

    done = subprocess.run(
        [sys.executable, "-m", "ksupport_command", "app", "--no-browser", "--port",
         str(server.port)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert f"--port {server.port}" in done.stderr
    assert "leave it out" in done.stderr
