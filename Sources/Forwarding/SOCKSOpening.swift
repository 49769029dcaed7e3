import Authentication
import Bytes
import HTTP
import IO
import Rules
import Telemetry
import Transport
import Upstream

/// Has a SOCKS server open a way to an origin: carries out what `SOCKS5Handshake` and `SOCKS4Request` say.
struct SOCKSOpening {
    public let connector: ParentConnector
    public let origin: UpstreamServer

    private var requester: Requester { connector.requester }
    private var exchange: Exchange { connector.exchange }
    private var parent: Parent { connector.parent }
    private var policy: Policy { exchange.policy }

    /// The failures on the way.
    private enum Failure: Error {
        case connection(IOError)
        case protocolSays(SOCKSError)
    }

    /// - Throws: the refusal that the client is to be told.
    public func open() async throws(Refusal) -> ParentConnector.Tunnel {
        var login = SOCKSLogin(by: connector, to: origin)
        await login.meetChallenge()
        while true {
            let connection = try await connector.connect(under: .plain, resuming: false)
            let inbound = ByteBuffer(capacity: 512)
            let started = requester.loop.nanoseconds
            do throws(Failure) {
                try await negotiate(on: connection.stream, inbound, &login)
            } catch {
                connection.stream.close()
                guard let refusal = await refusal(for: error, of: &login) else {
                    exchange.record.trace?.note("socks", from: started, error: Self.refusedLogin)
                    continue
                }
                exchange.record.trace?.note("socks", from: started, error: refusal.sentence)
                throw refusal
            }
            exchange.record.trace?.note("socks", from: started)
            await login.accepted()
            return ParentConnector.Tunnel(connection: connection, early: inbound.isEmpty ? nil : inbound)
        }
    }

    private static let refusedLogin = "the parent refused the login"

    /// - Returns: nil where the server is shown another login, on another connection.
    private func refusal(for failure: Failure, of login: inout SOCKSLogin) async -> Refusal? {
        switch failure {
        case .protocolSays(.passwordRefused):
            await login.meetChallenge()
            return login.offersPassword ? nil : login.unanswered()
        case .protocolSays(.noAcceptableMethod): return login.unanswered()
        case .protocolSays(let error): return .refused(error, by: parent, to: origin)
        case .connection(let error):
            // As in `TunnelRequest`.
            var refusal = Refusal(error == .timedOut ? .timedOut : .died, of: parent.origin.title)
            refusal.mayGoAnotherWay = true
            return refusal
        }
    }

    private func negotiate(
        on stream: ByteStream, _ inbound: ByteBuffer, _ login: inout SOCKSLogin
    ) async throws(Failure) {
        let out = exchange.outbound
        out.clear()
        defer { out.clear() }
        if parent.server.scheme == .socks4a {
            do throws(SOCKSError) {
                out.append(try SOCKS4Request.bytes(host: origin.hostText, port: origin.port))
            } catch { throw .protocolSays(error) }
            try await send(out, on: stream)
            while true {
                try await receive(from: stream, into: inbound)
                do throws(SOCKSError) {
                    guard let count = try SOCKS4Request.reply(inbound.readable) else { continue }
                    return inbound.consume(count)
                } catch { throw .protocolSays(error) }
            }
        }
        var handshake = SOCKS5Handshake.awaitingMethod(offersPassword: login.offersPassword)
        out.append(SOCKS5Handshake.greeting(offersPassword: login.offersPassword))
        try await send(out, on: stream)
        while true {
            try await receive(from: stream, into: inbound)
            let step: SOCKS5Handshake.Step
            do throws(SOCKSError) {
                step = try handshake.receive(inbound.readable)
                switch step {
                case .needsMore: continue
                case .password(let consumed):
                    inbound.consume(consumed)
                    try login.append(to: out)
                case .request where login.isProbe: return
                case .request(let consumed):
                    inbound.consume(consumed)
                    out.append(try SOCKS5Handshake.request(host: origin.hostText, port: origin.port))
                case .open(let consumed): return inbound.consume(consumed)
                }
            } catch { throw .protocolSays(error) }
            try await send(out, on: stream)
        }
    }

    private func send(_ bytes: ByteBuffer, on stream: ByteStream) async throws(Failure) {
        stream.setDeadline(after: policy.timeouts.response)
        do throws(IOError) { try await stream.write(from: bytes) } catch { throw .connection(error) }
    }

    private func receive(from stream: ByteStream, into inbound: ByteBuffer) async throws(Failure) {
        do throws(IOError) {
            guard try await stream.read(into: inbound) > 0 else { throw IOError.endOfStream }
        } catch { throw .connection(error) }
    }
}
