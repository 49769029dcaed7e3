import Foundation
import Synchronization
import TestSupport
import Testing

/// A client's own accepted answer is kept where a rule says `learn`, as far as its persistence allows.
struct LearningTests {
    private let accepted = Data("\(Account.user):\(Account.password)".utf8).base64EncodedString()

    /// An origin that accepts the account with any other fields, and everyone below `/open/`.
    private func origin() throws -> RecordingOrigin {
        let accepted = accepted
        return try RecordingOrigin.answering { request, connection in
            let isRight = request["Authorization"] == "Basic \(accepted)" || request.target.hasPrefix("/open/")
            try connection.reply(
                isRight ? "200 OK" : "401 Unauthorized",
                isRight ? [] : ["WWW-Authenticate: Basic realm=\"r\""])
        }
    }

    private func rule(_ words: String) -> String { "challenge { host 127.0.0.1; method basic; \(words); default }" }

    /// Makes a request as a client that sends its password preemptively.
    private func knowing(_ proxy: AttacheProcess, _ url: String, password: String = Account.password) throws -> Int {
        try proxy.get(url, "-u", "\(Account.user):\(password)").status
    }

    /// Makes a request as a client that waits for the challenge.
    private func asked(_ proxy: AttacheProcess, _ url: String) throws -> Int {
        try proxy.get(url, "--anyauth", "-u", "\(Account.user):\(Account.password)").status
    }

    @Test func `a password that was shown behind a challenge answers from then on`() throws {
        let origin = try origin()
        try AttacheProcess.running(rule("learn yes")) { proxy throws in
            #expect(try proxy.get(origin.url("/a/b")).status == 401)
            #expect(try knowing(proxy, origin.url("/a/b")) == 200)
            #expect(try proxy.get(origin.url("/a/b")).status == 200)
            // Without another challenge.
            let before = origin.messages.count
            #expect(try proxy.get(origin.url("/a/c")).status == 200)
            #expect(origin.messages.count == before + 1)
            // Lines of several threads have no order.
            let name = "\(Account.user)@127.0.0.1:\(origin.port)"
            #expect(try proxy.records(atLeast: 4).count { $0["credential"] == name } >= 1)
        }
    }

    @Test func `a password that was sent unasked answers once the server is seen to want it`() throws {
        let origin = try origin()
        try AttacheProcess.running(rule("learn yes")) { proxy throws in
            #expect(try knowing(proxy, origin.url("/a/b")) == 200)
            #expect(try proxy.get(origin.url("/a/b")).status == 200)
            #expect(try proxy.get(origin.url("/elsewhere")).status == 200)
        }
    }

    @Test func `a client of one connection that is challenged teaches too`() throws {
        let apache = try ApacheServer.shared()
        try AttacheProcess.running(rule("learn yes")) { proxy throws in
            #expect(try asked(proxy, apache.url("/basic/")) == 200)
            #expect(try proxy.get(apache.url("/basic/")).status == 200)
            // Digest has no password in it.
            #expect(try asked(proxy, apache.url("/digest/")) == 200)
            #expect(try proxy.get(apache.url("/digest/")).status == 401)
        }
    }

    @Test func `nothing is learned without the word, of a wrong password, or where anybody gets in`() throws {
        let origin = try origin()
        try AttacheProcess.running(rule("learn no")) { proxy throws in
            #expect(try asked(proxy, origin.url("/a")) == 200)
            #expect(try proxy.get(origin.url("/a")).status == 401)
        }
        try AttacheProcess.running(rule("learn yes")) { proxy throws in
            #expect(try proxy.get(origin.url("/a")).status == 401)
            #expect(try knowing(proxy, origin.url("/a"), password: Account.wrongPassword) == 401)
            #expect(try knowing(proxy, origin.url("/open/a"), password: Account.wrongPassword) == 200)
            let before = origin.messages.count
            #expect(try proxy.get(origin.url("/a")).status == 401)
            #expect(origin.messages.dropFirst(before).allSatisfy { $0["Authorization"] == nil })
        }
    }

    @Test func `a permanent one is there after a restart, sealed`() throws {
        let origin = try origin()
        let store = Scratch.folder("store") + "/credentials.db"
        let rules = "store sqlite \(store)\n" + rule("learn yes; persistence permanent")
        try AttacheProcess.running(rules) { proxy throws in
            #expect(try proxy.get(origin.url("/a")).status == 401)
            #expect(try knowing(proxy, origin.url("/a")) == 200)
            #expect(try Wait.until { try proxy.get(origin.url("/a")).status == 200 })
        }
        try AttacheProcess.running(rules) { proxy throws in
            #expect(try proxy.get(origin.url("/a")).status == 200)
        }
        #expect(Data(Scratch.bytes(store)).range(of: Data(Account.password.utf8)) == nil)
    }

    @Test func `a password that changed is learned anew`() throws {
        let first = accepted
        let second = Data("\(Account.user):\(Account.colonPassword)".utf8).base64EncodedString()
        let isChanged = Atomic(false)
        let origin = try RecordingOrigin.answering { request, connection in
            let isRight = request["Authorization"] == "Basic \(isChanged.load(ordering: .relaxed) ? second : first)"
            try connection.reply(
                isRight ? "200 OK" : "401 Unauthorized", isRight ? [] : ["WWW-Authenticate: Basic realm=\"r\""])
        }
        try AttacheProcess.running(rule("learn yes")) { proxy throws in
            #expect(try asked(proxy, origin.url("/a")) == 200)
            #expect(try proxy.get(origin.url("/a")).status == 200)
            isChanged.store(true, ordering: .relaxed)
            #expect(try proxy.get(origin.url("/a")).status == 401)
            #expect(try knowing(proxy, origin.url("/a"), password: Account.colonPassword) == 200)
            #expect(try proxy.get(origin.url("/a")).status == 200)
        }
    }
}
