import Bytes
import Foundation
import IO
import TestSupport
import Testing

@testable import DNS

@Suite struct ResolverTests {
    private static let four: [UInt8] = [192, 0, 2, 1]
    private static let six: [UInt8] = [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    private static let fourText = "192.0.2.1"
    private static let sixText = "2001:db8::1"

    /// Returns the results of a resolver that asks the server for the names, in turn.
    private func outcomes(
        _ names: [String], from server: NameServer, settings: Resolver.Channel.Settings? = nil
    ) async throws -> [Result<[String], Resolution.Failure>] {
        try await onLoop { loop in
            let resolver = Resolver(on: loop, servers: "127.0.0.1:\(server.port)", settings: settings)
            var outcomes: [Result<[String], Resolution.Failure>] = []
            for name in names {
                do throws(Resolution.Failure) {
                    outcomes.append(.success(try await resolver.resolve(name).addresses.map(\.description)))
                } catch { outcomes.append(.failure(error)) }
            }
            return outcomes
        }
    }

    @Test func `addresses and localhost need no name server`() async throws {
        let server = NameServer { _, _ in .code(3) }
        let outcomes = try await outcomes(["192.0.2.7", "2001:db8::1", "app.localhost"], from: server)
        #expect(
            outcomes == [.success(["192.0.2.7"]), .success(["2001:db8::1"]), .success(["127.0.0.1", "::1"])])
        #expect(server.queries == [])
    }

    @Test func `a name is asked once for many requests, and again only after its TTL`() async throws {
        let server = NameServer { _, type in .addresses(type == .a ? [Self.four] : []) }
        let outcomes = try await outcomes(Array(repeating: "origin.test", count: 3), from: server)
        #expect(outcomes == Array(repeating: .success([Self.fourText]), count: 3))
        #expect(server.queries.sorted() == ["origin.test/1", "origin.test/28"])
    }

    @Test func `a name that does not exist and a server that does not answer are told apart`() async throws {
        let errors = try await onLoop { loop in
            let server = NameServer { _, _ in .code(3) }
            var errors: [Resolution.Failure] = []
            for port in [server.port, 1] {
                let resolver = Resolver(on: loop, servers: "127.0.0.1:\(port)")
                do throws(Resolution.Failure) { _ = try await resolver.resolve("gone.test") } catch {
                    errors.append(error)
                }
            }
            return errors
        }
        #expect(errors == [.noSuchName("gone.test"), .noAnswer("gone.test")])
    }

    @Test(arguments: [2, 4, 5] as [UInt8])
    func `a server that refuses or fails is no server that is silent`(code: UInt8) async throws {
        let outcomes = try await outcomes(["origin.test"], from: NameServer { _, _ in .code(code) })
        guard case .failure(.failed("origin.test", let reason)) = outcomes.first else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(!reason.isEmpty)
    }

    @Test func `one family whose server fails keeps nobody from the other`() async throws {
        let server = NameServer { _, type in type == .a ? .addresses([Self.four]) : .code(2) }
        #expect(try await outcomes(["origin.test"], from: server) == [.success([Self.fourText])])
    }

    // MARK: - Families apart (RFC 8305 section 3)

    @Test(arguments: [NameServer.RecordType.a, .aaaa])
    func `a family that is not answered for delays nobody`(silent: NameServer.RecordType) async throws {
        let server = NameServer { _, type in
            type == silent ? .silence : .addresses([type == .a ? Self.four : Self.six])
        }
        let (addresses, isComplete, again) = try await onLoop { loop in
            let resolver = Resolver(on: loop, servers: "127.0.0.1:\(server.port)")
            let early = try await resolver.resolve("origin.test")
            // Another request meanwhile does not even wait for the resolution delay.
            let again = try await resolver.resolve("origin.test")
            return (early.addresses.map(\.description), early.isComplete, again === early)
        }
        #expect(addresses == [silent == .a ? Self.sixText : Self.fourText])
        // They were there before the other family was given up.
        #expect(!isComplete && again)
    }

    @Test(arguments: [NameServer.RecordType.a, .aaaa])
    func `a late family is added to what was handed out, and remembered`(late: NameServer.RecordType) async throws {
        let server = NameServer { _, type in
            let reply = NameServer.Reply.addresses([type == .a ? Self.four : Self.six])
            return type == late ? .held(reply) : reply
        }
        let (early, whole, cached) = try await onLoop { loop in
            let resolver = Resolver(on: loop, servers: "127.0.0.1:\(server.port)")
            let resolution = try await resolver.resolve("origin.test")
            let early = resolution.addresses.map(\.description)
            server.release()
            await resolution.complete(waking: Wakeup())
            return (
                early, resolution.addresses.map(\.description),
                try await resolver.resolve("origin.test").addresses.map(\.description)
            )
        }
        #expect(early.count == 1)
        #expect(whole == early + [late == .a ? Self.fourText : Self.sixText])
        #expect(cached == [Self.sixText, Self.fourText])
        #expect(server.queries.count == 2)
    }

    @Test func `a server that knows no name for IPv6 keeps nobody from IPv4`() async throws {
        let server = NameServer { _, type in type == .a ? .held(.addresses([Self.four])) : .code(3) }
        // All on the loop: the threads of the tests may be busy for longer than the resolver waits.
        let outcome = try await onLoop { loop -> Result<[String], Resolution.Failure>? in
            nonisolated(unsafe) let resolver = Resolver(on: loop, servers: "127.0.0.1:\(server.port)")
            let answer = Expectation<Result<[String], Resolution.Failure>>()
            loop.spawn {
                do throws(Resolution.Failure) {
                    answer.fulfil(.success(try await resolver.resolve("origin.test").addresses.map(\.description)))
                } catch { answer.fulfil(.failure(error)) }
            }
            while server.queries.count < 2, !answer.isOver { _ = await Expectation<Bool>().value(within: 1) }
            server.release()
            return await answer.value(within: nil)
        }
        #expect(outcome == .success([Self.fourText]))
    }

    @Test func `a name that does not exist is told without the answer about IPv6`() async throws {
        let server = NameServer { name, type in type == .a && name == "gone.test" ? .code(3) : .silence }
        let (error, isSilentToldFirst) = try await onLoop { loop in
            // Both tasks run on the loop.
            nonisolated(unsafe) let resolver = Resolver(on: loop, servers: "127.0.0.1:\(server.port)")
            nonisolated(unsafe) let silent = Silent()
            loop.spawn {
                _ = try? await resolver.resolve("silent.test")
                silent.isTold = true
            }
            var error: Resolution.Failure?
            do throws(Resolution.Failure) { _ = try await resolver.resolve("gone.test") } catch let failure {
                error = failure
            }
            return (error, silent.isTold)
        }
        #expect(error == .noSuchName("gone.test"))
        #expect(!isSilentToldFirst)
    }

    private final class Silent {
        var isTold = false
    }

    // MARK: - What the system says of names

    @Test func `both families are those of one form of the name`() async throws {
        let server = NameServer { name, type in
            switch (name, type) {
            case ("app.one.test", .aaaa): .addresses([Self.six])
            case ("app.two.test", .a): .addresses([Self.four])
            case ("app.one.test", .a): .addresses([])
            default: .code(3)
            }
        }
        let settings = Resolver.Channel.Settings(
            domains: ["none.test", "one.test", "two.test"], dots: 1, sources: "fb")
        #expect(try await outcomes(["app"], from: server, settings: settings) == [.success([Self.sixText])])
        #expect(!server.queries.contains { $0.hasPrefix("app.two.test") })
    }

    @Test(arguments: [
        ("app", 1, ["app.a.test", "app.b.test", "app"]), ("app.x", 1, ["app.x", "app.x.a.test", "app.x.b.test"]),
        ("app.x", 5, ["app.x.a.test", "app.x.b.test", "app.x"]),
    ])
    func `domains are searched in the order of resolv conf`(_ name: String, _ dots: Int, _ expected: [String]) {
        let settings = Resolver.Channel.Settings(domains: ["a.test", "b.test"], dots: dots, sources: "fb")
        #expect(settings.candidates(for: name) == expected)
    }

    @Test func `a changed resolv conf counts for the next name, and for names that were known`() async throws {
        let server = NameServer { name, type in
            type == .a && ["app.one.test", "app.two.test"].contains(name) ? .addresses([Self.four]) : .code(3)
        }
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("resolv-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Self.search("one.test", in: path)
        let port = server.port
        try await onLoop { loop in
            let resolver = Resolver(on: loop, servers: "127.0.0.1:\(port)", settings: nil, file: path)
            _ = try await resolver.resolve("app")
            #expect(server.queries.contains("app.one.test/1"))
            try Self.search("two.test", in: path)
            let isAsked = await Wait.until {
                _ = try? await resolver.resolve("app")
                return server.queries.contains("app.two.test/1")
            }
            #expect(isAsked)
        }
    }

    private static func search(_ domain: String, in path: String) throws {
        try "search \(domain)\nnameserver 127.0.0.1\n".write(toFile: path, atomically: true, encoding: .utf8)
    }

    @Test func `a resolv conf that is away for a moment has not changed`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("resolv-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try "nameserver 192.0.2.1\n".write(toFile: path, atomically: true, encoding: .utf8)
        var file = Resolver.Channel.SettingsFile(path, isRead: true)
        var changes = [file.hasChanged(at: .zero + 5000)]
        try FileManager.default.removeItem(atPath: path)
        changes.append(file.hasChanged(at: .zero + 6000))
        try "nameserver 192.0.2.2\n".write(toFile: path, atomically: true, encoding: .utf8)
        for now: Milliseconds in [6999, 7000, 8000] { changes.append(file.hasChanged(at: .zero + now)) }
        #expect(changes == [false, false, false, true, false])
    }

    @Test func `name servers that c-ares does not take fail the names, and no address`() async throws {
        try await onLoop { loop in
            let resolver = Resolver(on: loop, servers: "no server")
            let known = try await resolver.resolve("127.0.0.1")
            #expect(known.addresses == [IPAddress(v4: 0x7F00_0001)])
            for _ in 1...2 {
                let error = await #expect(throws: Resolution.Failure.self) {
                    _ = try await resolver.resolve("h.example.com")
                }
                #expect("\(error, default: "")".hasPrefix("the host name h.example.com could not be resolved: "))
            }
        }
    }

    /// A name of the system's hosts file that has one address there.
    private static let known: (name: String, address: String)? = {
        let text = (try? String(contentsOfFile: "/etc/hosts", encoding: .utf8)) ?? ""
        var addresses: [String: [String]] = [:]
        for line in text.split(separator: "\n") {
            let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace).map { $0.lowercased() }
            for name in words.dropFirst() { addresses[name, default: []].append(words[0]) }
        }
        return addresses.filter { $0.value.count == 1 && !$0.key.contains("localhost") }
            .min { $0.key < $1.key }.map { ($0.key, $0.value[0]) }
    }()

    @Test(.enabled(if: known != nil))
    func `no name server is asked for the other family of a name in the hosts file`() async throws {
        let known = try #require(Self.known)
        let server = NameServer { _, type in .addresses([type == .a ? Self.four : Self.six]) }
        let settings = Resolver.Channel.Settings(domains: [], dots: 1, sources: "fb")
        let outcomes = try await outcomes([known.name], from: server, settings: settings)
        #expect(outcomes == [.success([try #require(IPAddress(known.address)).description])])
        #expect(server.queries == [])
    }
}
