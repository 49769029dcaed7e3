import Bytes
import DNS
import Foundation
import IO
import TestSupport
import Testing

@Suite struct ResolverTests {
    @Test func `addresses and localhost need no name server`() async throws {
        let answers = try await onLoop { loop in
            let resolver = try Resolver(on: loop, servers: "127.0.0.1:1")
            return try await [
                resolver.resolve("192.0.2.7"), resolver.resolve("2001:db8::1"), resolver.resolve("app.localhost"),
            ].map { $0.map(\.description) }
        }
        #expect(answers == [["192.0.2.7"], ["2001:db8::1"], ["127.0.0.1", "::1"]])
    }

    @Test func `a name is asked once for many requests, and again only after its TTL`() async throws {
        let server = try NameServer { name in name == "origin.test" ? ([192, 0, 2, 1], 60) : nil }
        let answers = try await onLoop { loop in
            let resolver = try Resolver(on: loop, servers: "127.0.0.1:\(server.port)")
            var answers: [[IPAddress]] = []
            for _ in 0..<3 { answers.append(try await resolver.resolve("origin.test")) }
            return answers
        }
        #expect(answers == Array(repeating: [IPAddress(v4: 0xC000_0201)], count: 3))
        #expect(server.queries.filter { $0 == "origin.test/1" }.count == 1)
    }

    @Test func `a name that does not exist and a server that does not answer are told apart`() async throws {
        let server = try NameServer { _ in nil }
        let errors = try await onLoop { loop in
            var errors: [ResolutionError] = []
            for port in [server.port, 1] {
                let resolver = try Resolver(on: loop, servers: "127.0.0.1:\(port)")
                do { _ = try await resolver.resolve("gone.test") } catch { errors.append(error as! ResolutionError) }
            }
            return errors
        }
        #expect(errors == [.noSuchName("gone.test"), .noAnswer("gone.test")])
    }
}
