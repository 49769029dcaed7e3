import HTTP
import Telemetry
import TestNetwork
import Testing

@testable import Forwarding
@testable import Upstream

/// The machine of an exchange, driven by the events of its two channels.
struct ForwardingTests {
    @Test func `a request is sent, its response is relayed, and the connection serves the next`() async throws {
        let (first, outcome, second, dials) = try await PlayedExchange.play { played in
            try played.ask("GET http://h.known/a HTTP/1.1", "Host: h.known")
            let server = try played.accept(at: "h.known:80")
            #expect(played.heard(by: server).hasPrefix("GET /a HTTP/1.1\r\nHost: h.known\r\n"))
            played.say("HTTP/1.1 200 OK", "Content-Length: 2", content: "ok", by: server)
            let (first, outcome) = (played.clientHears(), played.outcome)
            try played.ask("GET http://h.known/b HTTP/1.1", "Host: h.known")
            return (first, outcome, played.heard(by: server), played.isDialling)
        }
        #expect(first.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(first.hasSuffix("\r\n\r\nok"))
        #expect(outcome == .ended(keeps: true))
        #expect(second.hasPrefix("GET /b HTTP/1.1\r\n"))
        #expect(!dials)
    }

    @Test(arguments: ["", ForwardingTests.login])
    func `a request to a known address starts no task, on a new connection or a kept one`(rules: String) async throws {
        let tasks = try await PlayedExchange.play(rules, credentials: ["c": "p"]) { played in
            try played.ask("GET http://h.known/a HTTP/1.1", "Host: h.known")
            let server = try played.accept(at: "h.known:80")
            played.say("HTTP/1.1 204 No Content", by: server)
            try played.ask("GET http://h.known/b HTTP/1.1", "Host: h.known")
            played.say("HTTP/1.1 204 No Content", by: server)
            #expect(played.outcome == .ended(keeps: true))
            return played.taskCount
        }
        #expect(tasks == 0)
    }

    @Test(arguments: [("GET", 0, true), ("PUT", 4, true), ("POST", 0, false), ("POST", 4, false)])
    func `where a kept connection ends without an answer, what may be repeated goes out on a new one`(
        method: String, length: Int, isRepeated: Bool
    ) async throws {
        let outcome = try await PlayedExchange.play { played in
            try played.ask("GET http://h.known/ HTTP/1.1", "Host: h.known")
            let first = try played.accept(at: "h.known:80")
            played.say("HTTP/1.1 204 No Content", by: first)
            #expect(played.outcome == .ended(keeps: true))
            try played.ask(
                "\(method) http://h.known/ HTTP/1.1", "Host: h.known", "Content-Length: \(length)",
                content: String("body".prefix(length)))
            #expect(played.heard(by: first).contains("\(method) / HTTP/1.1"))
            first.close()
            played.settle()
            guard isRepeated else { return played.outcome }
            let second = try played.accept(at: "h.known:80")
            let again = played.heard(by: second)
            #expect(again.hasPrefix("\(method) / HTTP/1.1"))
            #expect(again.hasSuffix(String("body".prefix(length))))
            played.say("HTTP/1.1 204 No Content", by: second)
            return played.outcome
        }
        #expect(outcome == (isRepeated ? .ended(keeps: true) : .upstreamFailed))
    }

    @Test func `a new connection that ends without an answer is not made again`() async throws {
        let (outcome, isDialling) = try await PlayedExchange.play { played in
            try played.ask("GET http://h.known/ HTTP/1.1", "Host: h.known")
            try played.accept(at: "h.known:80").close()
            played.settle()
            return (played.outcome, played.isDialling)
        }
        #expect(outcome == .upstreamFailed)
        #expect(!isDialling)
    }

    @Test func `a connection that cannot be made is a refusal`() async throws {
        let outcome = try await PlayedExchange.play { played in
            try played.ask("GET http://h.known/ HTTP/1.1", "Host: h.known")
            played.refuseConnection()
            return played.outcome
        }
        #expect(outcome == .refused(502, .destinationUnavailable))
    }

    @Test func `a name that is not known is looked up by a task, and a connection made`() async throws {
        let (hasWaited, outcome) = try await PlayedExchange.play { played in
            try played.ask("GET http://h/ HTTP/1.1", "Host: h")
            let hasWaited = played.outcome == nil
            let server = try played.accept(at: "h:80")
            #expect(played.heard(by: server).hasPrefix("GET / HTTP/1.1"))
            played.say("HTTP/1.1 204 No Content", by: server)
            return (hasWaited, played.outcome)
        }
        #expect(hasWaited)
        #expect(outcome == .ended(keeps: true))
    }

    @Test func `a server that says nothing is given up in time`() async throws {
        let (before, after) = try await PlayedExchange.play("timeouts { response 10s }") { played in
            try played.ask("GET http://h.known/ HTTP/1.1", "Host: h.known")
            _ = try played.accept(at: "h.known:80")
            played.pass(9_900)
            let before = played.outcome
            played.pass(200)
            return (before, played.outcome)
        }
        #expect(before == nil)
        #expect(after == .upstreamFailed)
    }

    // MARK: - Interim responses, expectations

    @Test(arguments: [("1.1", true), ("1.0", false)])
    func `an interim response reaches a client that knows it`(version: String, isPassed: Bool) async throws {
        let heard = try await PlayedExchange.play { played in
            try played.ask("GET http://h.known/ HTTP/\(version)", "Host: h.known")
            let server = try played.accept(at: "h.known:80")
            played.say("HTTP/1.1 103 Early Hints", "Link: </a>", by: server)
            let heard = played.clientHears()
            played.say("HTTP/1.1 204 No Content", by: server)
            #expect(played.clientHears().contains(" 204 No Content\r\n"))
            return heard
        }
        #expect(heard.hasPrefix("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n") == isPassed)
        #expect(heard.isEmpty != isPassed)
    }

    @Test func `a client that waits for 100 Continue gets it from the server, and sends its body then`() async throws {
        let (before, continued, sent, outcome) = try await PlayedExchange.play { played in
            try played.ask(
                "PUT http://h.known/ HTTP/1.1", "Host: h.known", "Content-Length: 4", "Expect: 100-continue")
            let server = try played.accept(at: "h.known:80")
            #expect(played.heard(by: server).lowercased().contains("expect: 100-continue\r\n"))
            let before = played.clientHears()
            played.say("HTTP/1.1 100 Continue", by: server)
            let continued = played.clientHears()
            played.clientSends("body")
            let sent = played.heard(by: server)
            played.say("HTTP/1.1 204 No Content", by: server)
            return (before, continued, sent, played.outcome)
        }
        #expect(before.isEmpty)
        #expect(continued == "HTTP/1.1 100 Continue\r\n\r\n")
        #expect(sent == "body")
        #expect(outcome == .ended(keeps: true))
    }

    @Test func `a server that does not say 100 Continue gets the body after a second`() async throws {
        let (early, late) = try await PlayedExchange.play { played in
            try played.ask(
                "PUT http://h.known/ HTTP/1.1", "Host: h.known", "Content-Length: 4", "Expect: 100-continue")
            _ = try played.accept(at: "h.known:80")
            played.pass(900)
            let early = played.clientHears()
            played.pass(200)
            return (early, played.clientHears())
        }
        #expect(early.isEmpty)
        #expect(late == "HTTP/1.1 100 Continue\r\n\r\n")
    }

    @Test func `a refusal in the place of 100 Continue spares the body`() async throws {
        let (heard, sent, outcome) = try await PlayedExchange.play { played in
            try played.ask(
                "PUT http://h.known/ HTTP/1.1", "Host: h.known", "Content-Length: 4", "Expect: 100-continue")
            let server = try played.accept(at: "h.known:80")
            _ = played.heard(by: server)
            played.say("HTTP/1.1 403 Forbidden", "Content-Length: 0", by: server)
            return (played.clientHears(), played.heard(by: server), played.outcome)
        }
        #expect(heard.hasPrefix("HTTP/1.1 403 Forbidden\r\n"))
        #expect(sent.isEmpty)
        // It may send its body all the same, so that its next request could not be told from it.
        #expect(outcome == .ended(keeps: false))
    }

    // MARK: - Bodies

    @Test func `an early response goes out while the body is still on its way`() async throws {
        let (heard, rest, outcome) = try await PlayedExchange.play { played in
            try played.ask("POST http://h.known/ HTTP/1.1", "Host: h.known", "Content-Length: 8", content: "half")
            let server = try played.accept(at: "h.known:80")
            #expect(played.heard(by: server).hasSuffix("\r\n\r\nhalf"))
            played.say("HTTP/1.1 200 OK", "Content-Length: 2", content: "ok", by: server)
            let heard = played.clientHears()
            #expect(played.outcome == nil)
            played.clientSends("rest")
            return (heard, played.heard(by: server), played.outcome)
        }
        #expect(heard.hasSuffix("\r\n\r\nok"))
        #expect(rest == "rest")
        #expect(outcome == .ended(keeps: true))
    }

    @Test func `an early refusal ends both connections`() async throws {
        let (heard, outcome, end) = try await PlayedExchange.play { played in
            try played.ask("POST http://h.known/ HTTP/1.1", "Host: h.known", "Content-Length: 8", content: "half")
            let server = try played.accept(at: "h.known:80")
            played.say("HTTP/1.1 413 Content Too Large", "Content-Length: 0", by: server)
            let (heard, outcome) = (played.clientHears(), played.outcome)
            played.settle()
            return (heard, outcome, server.end)
        }
        #expect(heard.hasPrefix("HTTP/1.1 413 Content Too Large\r\n"))
        #expect(heard.contains("Connection: close\r\n"))
        #expect(outcome == .ended(keeps: false))
        #expect(end == .all)
    }

    @Test func `a response that breaks off behind its head is cut short`() async throws {
        let (heard, outcome) = try await PlayedExchange.play { played in
            try played.ask("GET http://h.known/ HTTP/1.1", "Host: h.known")
            let server = try played.accept(at: "h.known:80")
            played.say("HTTP/1.1 200 OK", "Content-Length: 8", content: "half", by: server)
            let heard = played.clientHears()
            server.close()
            played.settle()
            return (heard, played.outcome)
        }
        #expect(heard.hasSuffix("\r\n\r\nhalf"))
        #expect(outcome == .cutShort(.httpResponseIncomplete))
    }

    @Test(arguments: [("1.1", "Transfer-Encoding: chunked", "2\r\nok\r\n0\r\n\r\n", true), ("1.0", "", "ok", false)])
    func `content without a length gets chunks, or ends with the connection of a client that knows none`(
        version: String, field: String, content: String, keeps: Bool
    ) async throws {
        let (heard, outcome) = try await PlayedExchange.play { played in
            try played.ask("GET http://h.known/ HTTP/\(version)", "Host: h.known")
            let server = try played.accept(at: "h.known:80")
            played.say("HTTP/1.1 200 OK", "Connection: close", content: "ok", by: server)
            server.close()
            played.settle()
            return (played.clientHears(), played.outcome)
        }
        #expect(heard.hasSuffix("\r\n\r\n\(content)"))
        #expect(field.isEmpty || heard.contains("\(field)\r\n"))
        #expect(outcome == .ended(keeps: keeps))
    }

    // MARK: - Challenges

    private static let login = "credential c { user user; password p }\nchallenge { host h.known; use c }"
    private static let authorization = "Authorization: Basic dXNlcjpw\r\n"

    @Test func `a challenge is answered on its connection, and its body is not the client's`() async throws {
        let (again, heard, outcome) = try await PlayedExchange.play(Self.login, credentials: ["c": "p"]) { played in
            try played.ask("PUT http://h.known/ HTTP/1.1", "Host: h.known", "Content-Length: 4", content: "body")
            let server = try played.accept(at: "h.known:80")
            #expect(played.heard(by: server).hasSuffix("\r\n\r\nbody"))
            played.say(
                "HTTP/1.1 401 Unauthorized", "WWW-Authenticate: Basic realm=x", "Content-Length: 5", content: "login",
                by: server)
            let again = played.heard(by: server)
            played.say("HTTP/1.1 200 OK", "Content-Length: 2", content: "ok", by: server)
            return (again, played.clientHears(), played.outcome)
        }
        #expect(again.contains(Self.authorization))
        #expect(again.hasSuffix("\r\n\r\nbody"))
        #expect(heard.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(!heard.contains("login"))
        #expect(outcome == .ended(keeps: true))
    }

    @Test func `a body that is larger than what may be kept is not sent again`() async throws {
        let rules = "limits { replay-memory 1; replay-disk 0 }\n" + Self.login
        let (heard, outcome) = try await PlayedExchange.play(rules, credentials: ["c": "p"]) { played in
            try played.ask("PUT http://h.known/ HTTP/1.1", "Host: h.known", "Content-Length: 4", content: "body")
            let server = try played.accept(at: "h.known:80")
            #expect(played.heard(by: server).contains("Expect: 100-continue\r\n"))
            played.pass(1_100)
            #expect(played.heard(by: server) == "body")
            played.say(
                "HTTP/1.1 401 Unauthorized", "WWW-Authenticate: Basic realm=x", "Content-Length: 0", by: server)
            return (played.clientHears(), played.outcome)
        }
        #expect(heard.hasPrefix("HTTP/1.1 401 Unauthorized\r\n"))
        #expect(heard.contains("is larger than this proxy keeps for sending it again"))
        #expect(outcome == .ended(keeps: true))
    }

    @Test func `a challenge on a connection that closes is answered on another`() async throws {
        let again = try await PlayedExchange.play(Self.login, credentials: ["c": "p"]) { played in
            try played.ask("GET http://h.known/ HTTP/1.1", "Host: h.known")
            let first = try played.accept(at: "h.known:80")
            played.say(
                "HTTP/1.1 401 Unauthorized", "WWW-Authenticate: Basic realm=x", "Content-Length: 0",
                "Connection: close", by: first)
            return played.heard(by: try played.accept(at: "h.known:80"))
        }
        #expect(again.contains(Self.authorization))
    }

    // MARK: - Upgrades

    @Test func `another protocol is spoken once client and server agree on it`() async throws {
        let (heard, outcome) = try await PlayedExchange.play { played in
            try played.ask(
                "GET http://h.known/ HTTP/1.1", "Host: h.known", "Connection: Upgrade", "Upgrade: websocket")
            let server = try played.accept(at: "h.known:80")
            played.say(
                "HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket", content: "early",
                by: server)
            return (played.clientHears(), played.outcome)
        }
        #expect(heard.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
        #expect(heard.contains("Upgrade: websocket\r\n"))
        #expect(outcome == .upgraded(early: "early"))
    }

    @Test func `a server that changes the protocol without being asked is refused`() async throws {
        let (heard, outcome) = try await PlayedExchange.play { played in
            try played.ask("GET http://h.known/ HTTP/1.1", "Host: h.known")
            let server = try played.accept(at: "h.known:80")
            played.say(
                "HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket", by: server)
            return (played.clientHears(), played.outcome)
        }
        #expect(heard.isEmpty)
        #expect(outcome == .refused(502, .httpProtocolError))
    }

    // MARK: - A parent's CONNECT

    private static let parent = """
        parent p { http p.known:8080 }
        route * { via p }
        credential c { user user; password p }
        challenge { host p.known; proxy yes; use c }
        """

    /// A request that goes through a tunnel, since it asks for another protocol.
    private static func tunnelled<Value: Sendable>(
        _ body: @escaping @Sendable (PlayedExchange, PlayedEnd) throws -> Value
    ) async throws -> Value {
        try await PlayedExchange.play(parent, credentials: ["c": "p"]) { played in
            try played.ask(
                "GET http://h.known/ HTTP/1.1", "Host: h.known", "Via: 1.1 other", "Connection: Upgrade",
                "Upgrade: websocket")
            return try body(played, try played.accept(at: "p.known:8080"))
        }
    }

    @Test func `a parent opens a tunnel, and gets none of the request`() async throws {
        let (opening, request, outcome) = try await Self.tunnelled { played, parent in
            let opening = played.heard(by: parent)
            played.say("HTTP/1.1 200 OK", by: parent)
            let request = played.heard(by: parent)
            played.say(
                "HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket", by: parent)
            return (opening, request, played.outcome)
        }
        let lines = opening.split(separator: "\r\n")
        #expect(lines.first == "CONNECT h.known:80 HTTP/1.1")
        #expect(lines.dropFirst().first == "Host: h.known:80")
        #expect(lines.count == 4 && lines.dropFirst(2).first == "Via: 1.1 other")
        #expect(lines.last?.hasPrefix("Via: 1.1 ") == true)
        #expect(request.hasPrefix("GET / HTTP/1.1\r\n"))
        #expect(outcome == .upgraded(early: ""))
    }

    @Test func `a parent's challenge is answered on its connection`() async throws {
        let (again, request) = try await Self.tunnelled { played, parent in
            #expect(!played.heard(by: parent).contains("Proxy-Authorization"))
            played.say(
                "HTTP/1.1 407 Proxy Authentication Required", "Proxy-Authenticate: Basic realm=x",
                "Content-Length: 5", content: "login", by: parent)
            let again = played.heard(by: parent)
            played.say("HTTP/1.1 200 OK", by: parent)
            return (again, played.heard(by: parent))
        }
        #expect(again.hasPrefix("CONNECT h.known:80 HTTP/1.1\r\n"))
        #expect(again.contains("Proxy-\(Self.authorization)"))
        #expect(request.hasPrefix("GET / HTTP/1.1\r\n"))
        #expect(!request.contains("Authorization"))
    }

    @Test func `a parent that closes with its challenge is asked again on another connection`() async throws {
        let again = try await Self.tunnelled { played, parent in
            played.say(
                "HTTP/1.1 407 Proxy Authentication Required", "Proxy-Authenticate: Basic realm=x",
                "Content-Length: 0", "Connection: close", by: parent)
            return played.heard(by: try played.accept(at: "p.known:8080"))
        }
        #expect(again.contains("Proxy-\(Self.authorization)"))
    }

    @Test func `a parent that promises to keep its connection and ends it is asked again on another`() async throws {
        let again = try await Self.tunnelled { played, parent in
            played.say(
                "HTTP/1.1 407 Proxy Authentication Required", "Proxy-Authenticate: Basic realm=x",
                "Content-Length: 0", by: parent)
            #expect(played.heard(by: parent).contains("Proxy-\(Self.authorization)"))
            parent.close()
            played.settle()
            return played.heard(by: try played.accept(at: "p.known:8080"))
        }
        #expect(again.contains("Proxy-\(Self.authorization)"))
    }

    @Test(arguments: [(403, ProxyError.httpRequestDenied), (502, .destinationUnavailable), (200, nil)])
    func `what a parent answers to CONNECT does not reach the client`(status: Int, error: ProxyError?) async throws {
        let (heard, outcome) = try await Self.tunnelled { played, parent in
            played.say("HTTP/1.1 \(status) Something", "X-Parent: yes", by: parent)
            return (played.clientHears(), played.outcome)
        }
        #expect(heard.isEmpty)
        if status == 200 {
            #expect(outcome == nil)
        } else {
            guard let error, outcome == .refused(502, error) else {
                Issue.record("\(String(describing: outcome))")
                return
            }
        }
    }

    @Test func `a parent that says nothing to CONNECT, or only interim responses, is given up in time`() async throws {
        let (before, after) = try await Self.tunnelled { played, parent in
            for _ in 0..<8 {
                played.say("HTTP/1.1 103 Early Hints", by: parent)
                played.pass(10_000)
            }
            let before = played.outcome
            played.say("HTTP/1.1 103 Early Hints", by: parent)
            played.pass(600_000)
            return (before, played.outcome)
        }
        #expect(before == nil || before == after)
        #expect(after == .refused(504, .httpResponseTimeout))
    }

    // MARK: - A client that leaves

    /// The moment at which the client leaves.
    enum Moment: CaseIterable { case connecting, lookingUp, awaitingResponse, sendingBody, relaying, openingTunnel }

    @Test(arguments: Moment.allCases)
    func `an exchange ends with its client`(moment: Moment) async throws {
        let rules = moment == .openingTunnel ? Self.parent : ""
        let outcome = try await PlayedExchange.play(rules, credentials: moment == .openingTunnel ? ["c": "p"] : [:]) {
            played in
            switch moment {
            case .connecting: try played.ask("GET http://h.known/ HTTP/1.1", "Host: h.known")
            case .lookingUp: try played.ask("GET http://h/ HTTP/1.1", "Host: h")
            case .awaitingResponse:
                try played.ask("GET http://h.known/ HTTP/1.1", "Host: h.known")
                _ = try played.accept(at: "h.known:80")
            case .sendingBody:
                try played.ask("PUT http://h.known/ HTTP/1.1", "Host: h.known", "Content-Length: 8", content: "half")
                _ = try played.accept(at: "h.known:80")
            case .relaying:
                try played.ask("GET http://h.known/ HTTP/1.1", "Host: h.known")
                let server = try played.accept(at: "h.known:80")
                played.say("HTTP/1.1 200 OK", "Content-Length: 8", content: "half", by: server)
            case .openingTunnel:
                try played.ask(
                    "GET http://h.known/ HTTP/1.1", "Host: h.known", "Connection: Upgrade", "Upgrade: websocket")
                _ = try played.accept(at: "p.known:8080")
            }
            #expect(played.outcome == nil)
            played.client.reset()
            played.settle()
            return (played.outcome, played.downstream.presence.hasLeft)
        }
        #expect(outcome.1)
        // A connection that is being made ends with a refusal.
        if ![.lookingUp, .openingTunnel].contains(moment) { #expect(outcome.0 == .clientLost) }
        #expect(outcome.0 != nil)
    }

    // MARK: - Requests of the proxy's own

    @Test func `a request of the proxy's own ends with the response's head`() async throws {
        let (isRelayed, status) = try await PlayedExchange.play { played in
            try played.ask("GET http://h.known/ HTTP/1.1", "Host: h.known", as: .own)
            let server = try played.accept(at: "h.known:80")
            played.say("HTTP/1.1 401 Unauthorized", "WWW-Authenticate: Basic realm=x", by: server)
            #expect(played.outcome == .ended(keeps: false))
            return (!played.clientHears().isEmpty, played.run.exchange.upstream.head.status)
        }
        #expect(!isRelayed)
        #expect(status == .unauthorized)
    }
}
