import Bytes
import Credentials
import DNS
import Glibc
import HTTP
import IO
import Model
import Rules
import Synchronization
import TestSupport
import Testing
import Transport

import struct Authentication.CookieJar
import struct Authentication.FormLogin

@testable import Forwarding
@testable import Proxy
@testable import Telemetry
@testable import Upstream

/// A destination that is another server's, as a broken cache would give it: nothing is sent there.
struct MisdirectionTests {
    /// How a request is about to be sent.
    enum Sending: CaseIterable {
        case forwarding, secure, upgraded, ftp, ownRequest, relayed, tunnelled, connect, intercepted, login
    }

    private final class Reports: Sendable {
        let lines = Mutex<[String]>([])
    }

    private struct Scene {
        let worker: Worker
        let session: ClientSession
        let run: Forwarding

        var exchange: Exchange { run.exchange }

        /// Returns the destination of requests for another server at `port`.
        func destination(_ scheme: Scheme, _ host: String = "127.0.0.1", _ port: UInt16) -> Destination {
            worker.upstreams.destination(scheme, host: host.utf8Span.span, port: port, by: exchange.policy.rules)
        }

        func read(_ head: String) throws {
            let bytes = exchange.headBytes
            bytes.append(head)
            _ = try exchange.request.parse(bytes.readable)
            exchange.body.begin(exchange.request.framing, limits: .request)
        }
    }

    private static func rules(_ sending: Sending, _ port: UInt16) -> String {
        switch sending {
        case .upgraded: "route * { upgrade }"
        case .relayed: "parent corp { http 127.0.0.1:\(port) }\nroute * { via corp }"
        case .tunnelled: "parent corp { socks5 127.0.0.1:\(port) }\nroute * { via corp }"
        case .intercepted: "route * { intercept }"
        default: ""
        }
    }

    /// Tries it.
    private static func send(_ sending: Sending, in scene: Scene, to port: UInt16) async throws(ExchangeFailure) {
        let (session, exchange) = (scene.session, scene.exchange)
        let host = sending == .relayed || sending == .tunnelled ? "other.example" : "127.0.0.1"
        let scheme: Scheme =
            [.secure, .connect, .intercepted].contains(sending) ? .https : sending == .ftp ? .ftp : .http
        let destination = scene.destination(scheme, host, port)
        switch sending {
        case .connect, .intercepted:
            let opening = TunnelOpening(
                downstream: session.downstream, exchange: exchange, destination: destination)
            if sending == .intercepted {
                _ = try await Interception(opening: opening, identity: session.policy.interception).begin()
            } else {
                _ = try await opening.open()
            }
        case .login:
            let form = Configuration.LoginForm(signs: [], login: LoginTemplate(action: "/login", fields: []))
            let login = LoginExchange(
                downstream: session.downstream, exchange: exchange, destination: destination, form: form)
            defer { login.end() }
            do throws(FormLogin.Failure) {
                _ = try await login.ask(
                    .get, at: Array("/login".utf8), with: CookieJar(origin: destination.origin.authority))
            } catch { throw .refused(Refusal(.badGateway, .proxyInternalError, "\(error)")) }
        default:
            if sending == .ownRequest { exchange.own = InternalRequest(identity: nil) }
            guard sending == .ownRequest else {
                exchange.destination = destination
                scene.run.begin()
                // It is driven by events as far as it needs no other wait.
                while case .awaitsWork = try scene.run.advance(for: session.downstream) {
                    try await scene.run.performWork(for: session.downstream)
                }
                return
            }
            try await scene.run.ask(destination, for: session.downstream)
        }
    }

    @Test(arguments: Sending.allCases)
    func `a request is not sent to another server than it is for`(sending: Sending) async throws {
        let reports = Reports()
        let (status, error, count, accepted) = try await onLoop { loop in
            var accepted = 0
            let arrival = Wakeup()
            let listener = try Listener(SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0), on: loop) {
                accepted += 1
                arrival.signal()
                close($0.descriptor)
            }
            let service = try servicePolicy(Self.rules(sending, listener.address.port))
            let policy = service.exchanges
            let shared = SharedState(storage: StoredCredentials()) { line in
                reports.lines.withLock { $0.append(line) }
            }
            let clients = ClientCount(ClientCount.Limits(clients: 8, perAddress: 8), loops: 1) { _ in }
            let worker = Worker(
                policy: service, shared: shared, on: loop, in: SystemNetwork(Resolver(on: loop), on: loop),
                room: Worker.Room(clients: clients, arrivals: 1, idle: 8))
            let session = ClientSession(
                ByteStream(try BlockingSocket.pair(on: loop).loop),
                from: ClientListener.Peer(address: IPAddress(v4: 0x7F00_0001)),
                number: 0, of: worker)
            let scene = Scene(worker: worker, session: session, run: Forwarding(policy: policy, on: loop))
            if sending == .connect || sending == .intercepted {
                try scene.read("CONNECT 127.0.0.2:443 HTTP/1.1\r\nHost: 127.0.0.2:443\r\n\r\n")
            } else {
                try scene.read(
                    "GET http://127.0.0.2/secret HTTP/1.1\r\nHost: 127.0.0.2\r\nAuthorization: Basic eDp5\r\n\r\n")
            }
            var refusal: Refusal?
            do throws(ExchangeFailure) { try await Self.send(sending, in: scene, to: listener.address.port) } catch {
                if case .refused(let found) = error { refusal = found }
            }
            let count = worker.metrics.value(of: .requestsMisdirected)
            // An earlier client's connection would be accepted before this one.
            let dialer = session.downstream.dialer(for: policy)
            try await dialer.connect(host: "127.0.0.1", port: listener.address.port).close()
            while accepted == 0 { await arrival.wait() }
            listener.close()
            session.downstream.closeOwn()
            return (refusal?.status, refusal?.error, count, accepted)
        }
        #expect(status == .badGateway)
        #expect(error == .proxyInternalError)
        #expect(count == 1)
        #expect(accepted == 1)
        let lines = reports.lines.withLock { $0 }
        #expect(lines.count == 1 && lines.allSatisfy { $0.contains("127.0.0.1 port") || $0.contains("other.example") })
        #expect(lines.allSatisfy { !$0.contains("secret") && !$0.contains("eDp5") })
    }
}
