import Foundation
import TestSupport
import Testing

/// Credentials that programs give.
struct HelperConversations {
    /// A folder with a helper that counts its runs in `runs`, and writes what it gets to `got`.
    private struct Helper {
        let folder: String
        var path: String { "\(folder)/helper" }

        init(_ text: String) throws {
            folder = FileManager.default.temporaryDirectory.path + "/helper-\(UUID().uuidString)"
            mkdir(folder, 0o700)
            try replace(with: text)
        }

        func replace(with text: String) throws {
            let script = "#!/bin/sh\ncd \(folder)\necho \"$*\" >>runs\ncat >>got\n\(text)\n"
            try ScriptFile.write(script, to: path)
        }

        func write(_ name: String, _ text: String) throws {
            try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name)"))
        }

        func read(_ name: String) -> String {
            (try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)) ?? ""
        }

        var runs: [String] {
            read("runs").split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        }

        func remove() { try? FileManager.default.removeItem(atPath: folder) }
    }

    private static let right = "Basic dTpw"

    @Test func `a command gives a password when a server asks, and again when the server refuses it`() async throws {
        let helper = try Helper("cat value")
        defer { helper.remove() }
        try helper.write("value", "p\nsecond line\n")
        await play(
            rules: """
                credential c { user u; password run \(helper.path) show }
                challenge { host localhost; use c }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
            << connect localhost:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="r"
            << GET / HTTP/1.1
               Authorization: \(Self.right)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://localhost/a HTTP/1.1
            << GET /a HTTP/1.1
               Authorization: \(Self.right)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
        #expect(helper.runs == ["show"])
    }

    @Test func `a helper that fails costs the client nothing but a sentence`() async throws {
        let helper = try Helper("echo no entry >&2; exit 1")
        defer { helper.remove() }
        await play(
            rules: """
                credential c { helper plain \(helper.path) }
                challenge { host localhost; use c }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
            << connect localhost:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="r"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="r"
               Proxy-Status: *it failed with status 1: no entry*
            """)
        #expect(helper.runs.count == 1)
    }

    @Test func `git's helper gets the server and its challenges, and hears of the first acceptance`() async throws {
        let helper = try Helper("test \"$1\" = get && printf 'username=u\\npassword=p\\n'")
        defer { helper.remove() }
        await play(
            rules: """
                credential c { helper git \(helper.path) }
                challenge { host localhost; use c }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
            << connect localhost:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="r"
            << GET / HTTP/1.1
               Authorization: \(Self.right)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://localhost/a HTTP/1.1
            << GET /a HTTP/1.1
               Authorization: \(Self.right)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
        #expect(Wait.until { helper.runs.count == 2 && helper.read("got").hasSuffix("password=p\n\n") })
        #expect(helper.runs == ["get", "store"])
        #expect(
            helper.read("got") == """
                capability[]=authtype
                capability[]=state
                protocol=http
                host=localhost
                wwwauth[]=basic realm="r"

                protocol=http
                host=localhost
                username=u
                password=p


                """)
    }

    @Test func `a refused value is asked for once more, sent once, and erased once`() async throws {
        let helper = try Helper("test \"$1\" = get && printf 'username=u\\npassword=wrong\\n'")
        defer { helper.remove() }
        await play(
            rules: """
                credential c { helper git \(helper.path) }
                challenge { host localhost; use c }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
            << connect localhost:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="r"
            << GET / HTTP/1.1
               Authorization: Basic dTp3cm9uZw==
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="r"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="r"
               Proxy-Status: *
            """)
        #expect(Wait.until { helper.runs.count >= 3 })
        #expect(helper.runs == ["get", "get", "erase"])
    }

    @Test func `another value is another attempt of the same request`() async throws {
        let helper = try Helper("if test -e twice; then printf 'u\\np\\n'; else touch twice; printf 'u\\nwrong\\n'; fi")
        defer { helper.remove() }
        await play(
            rules: """
                credential c { helper plain \(helper.path) }
                challenge { host localhost; use c }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
            << connect localhost:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="r"
            << GET / HTTP/1.1
               Authorization: Basic dTp3cm9uZw==
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="r"
            << GET / HTTP/1.1
               Authorization: \(Self.right)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
        #expect(helper.runs.count == 2)
    }

    @Test func `a forbidden page and a server in trouble erase nothing`() async throws {
        let helper = try Helper("test \"$1\" = get && printf 'username=u\\npassword=p\\n'")
        defer { helper.remove() }
        // A server that forbids a page has accepted the credential. The last verdict comes after all others.
        for status in ["403 Forbidden", "503 Service Unavailable", "200 OK"] {
            await play(
                rules: """
                    credential c { helper git \(helper.path) }
                    challenge { host localhost; use c }
                    """,
                """
                >> GET http://localhost/ HTTP/1.1
                << connect localhost:80
                << GET / HTTP/1.1
                >> HTTP/1.1 401 Unauthorized
                   WWW-Authenticate: Basic realm="r"
                << GET / HTTP/1.1
                   Authorization: \(Self.right)
                >> HTTP/1.1 \(status)
                << HTTP/1.1 \(status)
                """)
        }
        #expect(Wait.until { helper.runs.count { $0 == "store" } == 2 })
        #expect(helper.runs.sorted() == ["get", "get", "get", "store", "store"])
    }

    @Test func `a preemptive credential of a helper is sent with the first request`() async throws {
        let helper = try Helper("echo abc")
        defer { helper.remove() }
        await play(
            rules: """
                credential c { helper plain \(helper.path) }
                challenge { host localhost; method bearer; use c; preempt always }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
            << connect localhost:80
            << GET / HTTP/1.1
               Authorization: Bearer abc
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
        #expect(helper.runs.count == 1)
    }

    @Test func `a login in three requests stays on the connection on which it began`() async throws {
        let helper = try Helper(
            """
            test "$1" = get || exit 0
            case "$(cat got)" in
            *state*step:1*) printf 'authtype=Multi\\ncredential=two\\nstate[]=step:2\\n';;
            *) printf 'authtype=Multi\\ncredential=one\\nstate[]=step:1\\ncontinue=1\\n';;
            esac
            """)
        defer { helper.remove() }
        await play(
            rules: """
                credential c { helper git \(helper.path) }
                challenge { host localhost; method other; use c }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
            << connect localhost:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Multi a="1"
            << GET / HTTP/1.1
               Authorization: Multi one
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Multi a="2"
            << GET / HTTP/1.1
               Authorization: Multi two
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            server << close
            """)
        #expect(Wait.until { helper.runs == ["get", "get", "store"] })
        #expect(helper.read("got").contains(#"wwwauth[]=multi a="2""# + "\nstate[]=step:1\n\n"))
    }

    @Test func `without a value for every request the request goes on, and a 401 has the reason`() async throws {
        let helper = try Helper("echo no entry >&2; exit 1")
        defer { helper.remove() }
        await play(
            rules: """
                credential c { helper plain \(helper.path) }
                challenge { host localhost; method bearer; use c; preempt always }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
            << connect localhost:80
            << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://localhost/a HTTP/1.1
            << GET /a HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
            << HTTP/1.1 401 Unauthorized
               Proxy-Status: *no entry*
            """)
        #expect(helper.runs.count == 1)
    }

    /// The rules and the steps of a pull with the login that a Docker helper gives.
    private static func pull(_ helper: Helper, _ request: String) -> (rules: String, steps: String) {
        let rules = """
            credential hub { helper docker \(helper.path); registry http://127.0.0.1:9/token }
            challenge "images" { host h; use hub }
            timeouts { connect 10s; response 30s }
            """
        let steps = """
            client >> GET http://h/v2/team/app/manifests/1 HTTP/1.1
            << connect h:80
            server << GET /v2/team/app/manifests/1 HTTP/1.1
            server >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer realm="http://127.0.0.1:9/token",service="reg",scope="repository:team/app:pull"
            << connect 127.0.0.1:9
            server 2 << \(request)
            server 2 >> HTTP/1.1 200 OK

               {"token":"one","expires_in":300}
            server 2 << close
            server << GET /v2/team/app/manifests/1 HTTP/1.1
               Authorization: Bearer one
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            """
        return (rules, steps)
    }

    @Test func `a Docker helper gives the login of a registry's token server`() async throws {
        let helper = try Helper(#"echo '{"ServerURL":"h","Username":"u","Secret":"p"}'"#)
        defer { helper.remove() }
        let (rules, steps) = Self.pull(
            helper,
            """
            GET /token?service=reg&scope=repository%3Ateam%2Fapp%3Apull HTTP/1.1
               Host: 127.0.0.1:9
               Accept: application/json
               Authorization: Basic base64(u:p)
            """)
        await play(rules: rules, steps)
        #expect(helper.runs == ["get"])
        #expect(helper.read("got") == "http://h")
    }

    @Test(arguments: [("exit 1", true), ("echo '{}'", true), ("echo none", false), ("kill -9 $$", false)])
    func `a Docker helper that may have nothing for the URL is asked for the host, and no other`(
        text: String, isAskedAgain: Bool
    ) async throws {
        let helper = try Helper(text)
        defer { helper.remove() }
        await play(
            rules: """
                credential d { helper docker \(helper.path) }
                challenge { host localhost; use d }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
            << connect localhost:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="r"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="r"
               Proxy-Status: *
            """)
        #expect(helper.runs == (isAskedAgain ? ["get", "get"] : ["get"]))
        #expect(helper.read("got") == "http://localhost" + (isAskedAgain ? "localhost" : ""))
    }

    @Test func `a Docker helper's identity token is posted to the token server`() async throws {
        let helper = try Helper(#"echo '{"ServerURL":"h","Username":"<token>","Secret":"idt"}'"#)
        defer { helper.remove() }
        let (rules, steps) = Self.pull(
            helper,
            """
            POST /token HTTP/1.1
               Host: 127.0.0.1:9
               Content-Type: application/x-www-form-urlencoded

               grant_type=refresh_token&client_id=attache&refresh_token=idt&scope=repository%3Ateam%2Fapp%3Apull&service=reg
            """)
        await play(rules: rules, steps)
        #expect(helper.runs == ["get"])
    }
}
