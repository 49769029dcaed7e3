import Foundation
import TestSupport
import Testing

/// Logins that take JSON, by FastAPI, which answers a form with `422 {"detail":[…]}`.
@Suite(.enabled(if: FastAPI.isInstalled, "python3-fastapi and python3-uvicorn are not installed"))
struct JSONLoginTests {
    private struct Server {
        let port = FreePort.take()
        let folder = Scratch.folder("fastapi")
        private let child: Subprocess

        init() throws {
            try Scratch.write(Self.program, to: folder + "/server.py")
            child = try Subprocess(
                FastAPI.python, [folder + "/server.py", "\(port)", Account.user, folder + "/journal"],
                environment: ["PASSWORD": Self.password], directory: folder)
            try Socket.awaitListener(on: port, of: child)
        }

        /// The password has what JSON escapes.
        static let password = #"Wint\er-"Qu33n"/ü"#

        func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }
        var journal: [String] { Scratch.read(folder + "/journal").split(separator: "\n").map(String.init) }

        private static let program = """
            import os, secrets, sys, uvicorn
            from fastapi import FastAPI, HTTPException, Request, Response
            from pydantic import BaseModel

            port, user, journal = int(sys.argv[1]), sys.argv[2], open(sys.argv[3], "a", buffering=1)
            sessions = set()
            app = FastAPI()

            class Login(BaseModel):
                username: str
                password: str

            @app.post("/login")
            def login(given: Login, response: Response):
                if given.username != user or given.password != os.environ["PASSWORD"]:
                    print("bad", file=journal)
                    raise HTTPException(401, "wrong password")
                session = secrets.token_hex(16)
                sessions.add(session)
                print("good", file=journal)
                response.set_cookie("session", session, httponly=True)
                return {"ok": True}

            @app.get("/{path:path}")
            def page(path: str, request: Request):
                if request.cookies.get("session") not in sessions: raise HTTPException(401, "log in first")
                return {"page": path}

            uvicorn.run(app, host="127.0.0.1", port=port, log_level="error")
            """
    }

    private func rules(_ server: Server, _ fields: String) -> String {
        """
        credential web { user \(Account.user); password file @/password }
        challenge {
            host 127.0.0.1
            port \(server.port)
            method html-form
            form { recognise status 401; login /login; fields \(fields) }
            use web
        }
        """
    }

    private func setting(_ password: String = Server.password) -> AttacheProcess.Setting {
        .init(files: ["password": password + "\n"])
    }

    @Test func `a form is not read there: the password is not refused, and the 502 names the way out`() throws {
        let server = try Server()
        let form = rules(server, "username={user} password={password}")
        try AttacheProcess.running(form, setting: setting()) { proxy throws in
            for _ in 1...2 {
                let fetched = try proxy.get(server.url("/page"))
                #expect(fetched.status == 502)
                #expect(fetched.text.contains("this login wants JSON"), "\(fetched)")
                #expect(fetched.text.contains("fields json"), "\(fetched)")
            }
            #expect(try proxy.events().allSatisfy { $0["event"] != "credential.refused" })
            try proxy.reload(rules(server, "json { username={user} password={password} }"))
            #expect(try Wait.until { try proxy.get(server.url("/page")).text == #"{"page":"page"}"# })
            #expect(server.journal == ["good"])
        }
    }

    @Test func `fields json logs in once for all, and other members than the server's are no refusal`() throws {
        let server = try Server()
        let json = rules(server, "json {\n username={user}\n password={password}; remember=yes }")
        try AttacheProcess.running(json, setting: setting()) { proxy throws in
            for page in 1...3 { #expect(try proxy.get(server.url("/\(page)")).status == 200) }
            #expect(server.journal == ["good"])
        }
        try AttacheProcess.running(rules(server, "json { user={user} password={password} }"), setting: setting()) {
            proxy throws in
            let fetched = try proxy.get(server.url("/page"))
            #expect(fetched.status == 502)
            #expect(fetched.text.contains("other members"), "\(fetched)")
            #expect(try proxy.events().allSatisfy { $0["event"] != "credential.refused" })
        }
    }

    @Test func `a wrong password is refused, and good when it is set anew`() throws {
        let server = try Server()
        let json = rules(server, "json { username={user} password={password} }")
        try AttacheProcess.running(json, setting: setting(Account.wrongPassword)) { proxy throws in
            for page in 1...4 { #expect(try proxy.get(server.url("/\(page)")).status != 200) }
            #expect(server.journal.count <= 2)
            try proxy.replace("password", with: Server.password + "\n")
            #expect(try Wait.until { try proxy.get(server.url("/page")).status == 200 })
        }
    }
}

private enum FastAPI {
    /// The distribution's, which has its packages.
    static let python = "/usr/bin/python3"
    static let isInstalled = (try? Finished.run(python, ["-c", "import fastapi, uvicorn"]))?.succeeded ?? false
}
