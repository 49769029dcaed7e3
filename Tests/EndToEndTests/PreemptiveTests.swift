import Foundation
import Testing

/// Servers that never ask: credentials go with every request, where they want them.
struct PreemptiveTests {
    private static func rules(_ origin: RecordingOrigin, _ credential: String) -> String {
        """
        credential k { token file @/key; \(credential) }
        challenge { host 127.0.0.1; port \(origin.port); use k; preempt always }
        """
    }

    private static func setting(_ key: String) -> AttacheProcess.Setting {
        AttacheProcess.Setting(files: ["key": key + "\n"])
    }

    /// An origin that answers `404` to a request without a key, as many APIs do, and `401` to a wrong key.
    private static func keeper(_ isRight: @escaping @Sendable (Message) -> Bool?) throws -> RecordingOrigin {
        try RecordingOrigin.answering { request, connection in
            switch isRight(request) {
            case nil: try connection.reply("404 Not Found", [], "nothing here")
            case true?: try connection.reply("200 OK", [], "ok")
            case false?: try connection.reply("401 Unauthorized", [], "wrong key")
            }
        }
    }

    @Test(arguments: [
        ("", "Authorization", "Bearer right"), ("header X-Api-Key", "X-Api-Key", "right"),
        (#"header Authorization "Token token={token}""#, "Authorization", "Token token=right"),
    ])
    func `a key goes in the field that the server wants`(credential: String, field: String, value: String) throws {
        let origin = try Self.keeper { request in request[field].map { $0 == value } }
        try AttacheProcess.running(Self.rules(origin, credential), setting: Self.setting("right")) { proxy throws in
            for path in ["/", "/a/b", "/?q"] { #expect(try proxy.get(origin.url(path)).text == "ok") }
            #expect(origin.messages.count == 3)
            #expect(!(proxy.accessLog + proxy.errorOutput).contains("right"))
        }
    }

    @Test func `a key in the query stays between the proxy and the server`() throws {
        let origin = try RecordingOrigin.answering { request, connection in
            guard request.target.hasSuffix("/") || request.target.contains("/?") else {
                let target = request.target.replacing("?", with: "/?")
                return try connection.reply("301 Moved Permanently", ["Location: \(target)"])
            }
            try connection.reply(
                request.target.contains("key=r%2Fght") ? "200 OK" : "404 Not Found", [], request.target)
        }
        try AttacheProcess.running(Self.rules(origin, "query key"), setting: Self.setting("r/ght")) { proxy throws in
            let fetched = try proxy.get(origin.url("/a?b=1"), "-L")
            #expect(fetched.status == 200, "\(fetched)")
            #expect(!fetched.heads.contains("key="), "\(fetched)")
            #expect(origin.messages.map(\.target) == ["/a?b=1&key=r%2Fght", "/a/?b=1&key=r%2Fght"])
            #expect(try proxy.records(atLeast: 2).count == 2)
            #expect(!(proxy.accessLog + proxy.errorOutput).contains("key="))
        }
    }

    @Test func `many clients see nothing of a key that is exchanged`() throws {
        let origin = try Self.keeper { request in request["X-Api-Key"].map { $0 == "second" } }
        let rules = Self.rules(origin, "header X-Api-Key")
        try AttacheProcess.running(rules, setting: Self.setting("first")) { proxy throws in
            try proxy.replace("key", with: "second\n")
            let statuses = try Parallel.fetch(64, origin.url("/"), through: proxy)
            #expect(statuses.filter { $0 == 200 }.count == 64)
            #expect(origin.messages.count { $0["X-Api-Key"] == "first" } <= 1)
        }
    }

    @Test func `a wrong key is not sent again and again`() throws {
        let origin = try Self.keeper { request in request["X-Api-Key"].map { _ in false } }
        try AttacheProcess.running(Self.rules(origin, "header X-Api-Key"), setting: Self.setting("wrong")) {
            proxy throws in
            for number in 1...8 { _ = try proxy.get(origin.url("/\(number % 4)")) }
            let statuses = try Parallel.fetch(32, origin.url("/"), through: proxy)
            #expect(statuses.count == 32)
            #expect(origin.messages.count { $0["X-Api-Key"] != nil } == 2)
            let listed = try Finished.run(
                AttacheBinary.path, ["challenges"], directory: proxy.folder, seconds: 30)
            #expect(!(listed.output + listed.errorOutput).contains("wrong"), "\(listed)")
        }
    }
}
