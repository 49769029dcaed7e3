import Foundation

/// A small web application with a login form: the token in its hidden field belongs to the cookie of its page, a session
/// serves a number of requests, and pages come in gzip to those who take it. Its journal says what it saw.
final class LoginServer: Sendable {
    /// How it asks for a login.
    enum Manner: String {
        /// 302 to the login page.
        case redirect
        /// The login page in the place of what was asked for.
        case page
        /// 401 with a few words, as APIs do.
        case words
        /// 302 to another port.
        case elsewhere
        /// 302 to a page that asks for the user, with another behind it for the password; both send many parts.
        case steps
    }

    let port = FreePort.take()
    private let folder: String
    private let child: Subprocess

    /// - Parameter uses: requests that a session serves.
    init(_ manner: Manner = .redirect, uses: Int = 1_000_000) throws {
        folder = Scratch.folder("login")
        try Scratch.write(Self.program, to: folder + "/server.py")
        let arguments = ["\(port)", manner.rawValue, "\(uses)", Account.user, folder + "/journal"]
        child = try Subprocess(
            "python3", [folder + "/server.py"] + arguments, environment: ["PASSWORD": Account.password],
            directory: folder)
        try Socket.awaitListener(on: port, of: child)
    }

    func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    /// The lines of the journal, oldest first: `login good`, `login bad`, `login forged`, `form`, or `METHOD path` of what
    /// was served behind the login.
    var journal: [String] { Scratch.read(folder + "/journal").split(separator: "\n").map(String.init) }

    func count(_ line: String) -> Int { journal.count { $0 == line } }

    private static let program = """
        import email, gzip, hashlib, html, os, secrets, sys, threading, urllib.parse
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

        port, manner, uses, user, journal = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5]
        password = os.environ["PASSWORD"]
        lock = threading.Lock()
        forms, sessions, named = {}, {}, {}
        log = open(journal, "a", buffering=1)

        class Application(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def log_message(self, *arguments): pass

            def cookies(self):
                pairs = (self.headers.get("Cookie") or "").split(";")
                return dict(pair.strip().split("=", 1) for pair in pairs if "=" in pair)

            def body(self):
                if "chunked" in self.headers.get("Transfer-Encoding", ""):
                    content = b""
                    while True:
                        size = int(self.rfile.readline().split(b";")[0], 16)
                        content += self.rfile.read(size)
                        self.rfile.readline()
                        if size == 0: return content
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))

            def reply(self, status, content, *fields, type="text/html; charset=utf-8"):
                content = content.encode() if isinstance(content, str) else content
                self.send_response(status)
                if "gzip" in self.headers.get("Accept-Encoding", "") and type.startswith("text/html"):
                    content = gzip.compress(content)
                    self.send_header("Content-Encoding", "gzip")
                self.send_header("Content-Type", type)
                for name, value in fields: self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD": self.wfile.write(content)

            def form(self, words=""):
                token, visitor = secrets.token_hex(8) + "&<\\"", secrets.token_hex(8)
                with lock: forms[visitor] = token
                log.write("form\\n")
                # The sign stands behind what fits into one read, and in the page's source only.
                page = "<!doctype html><title>Portal</title>" + "<!-- padding -->" * 3000
                kind = "enctype=multipart/form-data" if manner == "steps" else ""
                page += "<p>%s<form action='/login?step=1' method=post %s>" % (words, kind)
                page += "<input type=hidden name=csrf_token value='%s'>" % html.escape(token)
                if manner == "steps" and self.cookies().get("visitor") in named:
                    with lock: named[visitor] = named.pop(self.cookies()["visitor"])
                    page += "<input type=password name=password>"
                elif manner == "steps":
                    page += "<input name=username>"
                else:
                    page += "<input name=username><input type=password name=password>"
                page += "<input type=checkbox name=remember value=yes checked><button name=go value=in>Log in</button></form>"
                self.reply(200, page, ("Set-Cookie", "visitor=%s; Path=/; HttpOnly" % visitor))

            def fields(self):
                content, type = self.body(), self.headers.get("Content-Type", "")
                if manner != "steps": return urllib.parse.parse_qs(content.decode(), keep_blank_values=True)
                parts = email.message_from_bytes(b"Content-Type: " + type.encode() + b"\\r\\n\\r\\n" + content)
                return {part.get_param("name", header="Content-Disposition"): [part.get_payload(decode=True).decode()]
                    for part in parts.get_payload()}

            def login(self):
                fields = self.fields()
                field = lambda name: (fields.get(name) or [""])[0]
                visitor = self.cookies().get("visitor", "")
                with lock: expected = forms.pop(visitor, None)
                sound = self.path == "/login?step=1" and field("remember") == "yes" and field("go") == "in"
                if expected is None or field("csrf_token") != expected or not sound:
                    log.write("login forged\\n")
                    return self.reply(400, "forged")
                if manner == "steps" and visitor not in named:
                    with lock: named[visitor] = field("username")
                    log.write("login named%s\\n" % (" and more" if "password" in fields else ""))
                    return self.reply(303, "", ("Location", "/login?second"))
                name = named.pop(visitor) if manner == "steps" else field("username")
                if (name, field("password")) != (user, password):
                    log.write("login bad\\n")
                    return self.form("wrong password")
                session = secrets.token_hex(8)
                with lock: sessions[session] = uses
                log.write("login good\\n")
                self.reply(303, "", ("Location", "/home"), ("Set-Cookie", "sid=%s; Path=/; HttpOnly" % session),
                    ("Set-Cookie", "visitor=; Path=/; Max-Age=0"))

            def may(self):
                session = self.cookies().get("sid")
                with lock:
                    if self.path == "/home": return session in sessions
                    left = sessions.get(session, 0)
                    if left: sessions[session] = left - 1
                    return left > 0

            def serve(self):
                path = self.path.split("?")[0]
                if path == "/login":
                    if self.command == "POST": return self.login()
                    return self.form()
                if path.startswith("/open"):
                    content = b"<html>" + b"0123456789" * 60000
                    return self.reply(200, content)
                content = self.body()
                if path.startswith("/forbidden") or not self.may():
                    if manner in ("redirect", "steps"): return self.reply(302, "", ("Location", "/login?next=" + path))
                    if manner == "words": return self.reply(401, '{"error":"login"}', type="application/json")
                    if manner == "elsewhere": return self.reply(302, "", ("Location", "http://127.0.0.1:9/login"))
                    return self.form()
                log.write("%s %s\\n" % (self.command, path))
                said = "%s %s" % (len(content), hashlib.sha256(content).hexdigest()) if content else "home"
                if path == "/cookies": said = self.headers.get("Cookie", "")
                # Sessions that move on, and what is no part of them.
                fields = [] if path == "/home" else [("Set-Cookie", "shown=1; Path=/")]
                if path == "/renew":
                    with lock:
                        session = secrets.token_hex(8)
                        sessions[session] = sessions.pop(self.cookies()["sid"])
                    fields.append(("Set-Cookie", "sid=%s; Path=/" % session))
                self.reply(200, said + "\\n", *fields, type="text/plain")

            do_GET = do_POST = do_HEAD = do_PUT = serve

        class Server(ThreadingHTTPServer):
            request_queue_size = 256
            daemon_threads = True
        Server(("127.0.0.1", port), Application).serve_forever()
        """
}
