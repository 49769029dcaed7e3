import Bytes
import DNS
import Glibc
import HTTP
import IO
import Rules
import Telemetry
import Transport

/// Opens a connection to a host. The name is resolved once, each address is judged, and only judged addresses are
/// dialled. So a name whose addresses change meanwhile cannot lead to a forbidden host.
public struct Dialer {
    public let network: any Network
    public let policy: Policy
    /// The listeners of this process, which are never dialled, even if the policy allows it.
    let own: LocalListeners
    public let loop: EventLoop
    public let wakeup: Wakeup
    /// The counters of the loop.
    var metrics = Metrics()
    /// The trace of the request that needs the connection.
    var trace: RequestTrace?

    /// - Parameters:
    ///   - host: lower case.
    ///   - isJudged: false if `egress` does not apply.
    ///   - isForPractice: whether it is for a practice page, so that the admin listener may be dialled.
    /// - Throws: the refusal for the client.
    public func connect(
        host: String, port: UInt16, isJudged: Bool = true, isForPractice: Bool = false
    ) async throws(Refusal) -> ByteStream {
        let isPermitted = { (address: IPAddress) in
            permits(address, port, isJudged: isJudged, isForPractice: isForPractice)
        }
        let resolution = try await resolve(host, port, isPermitted)
        let started = loop.now
        do throws(IOError) {
            let stream = try await network.connect(
                to: resolution, port: port, within: policy.timeouts.connect, waking: wakeup
            ) { isPermitted($0.address) }
            metrics.note(.connect, from: started, to: loop.now)
            trace?.note(.connect, of: host, from: started)
            return stream
        } catch {
            let refusal = Self.refusal(for: error, host: host, port: port)
            trace?.note(.connect, of: host, from: started, error: refusal.sentence)
            throw refusal
        }
    }

    /// Begins a connection that needs only the events of one socket: the host has one address, which is known and
    /// permitted.
    ///
    /// - Parameters: as for `connect`.
    /// - Returns: a stream that is being connected; `hasArrived` tells when it is. Nil if `connect` must be awaited
    ///   instead.
    /// - Throws: the refusal for the client.
    public func begin(host: String, port: UInt16, isJudged: Bool = true) throws(Refusal) -> ByteStream? {
        guard let address = onlyAddress(of: host), permits(address, port, isJudged: isJudged) else { return nil }
        do throws(IOError) {
            let stream = ByteStream(try network.begin(to: SocketAddress(address, port: port)))
            stream.setDeadline(after: policy.timeouts.connect)
            return stream
        } catch { throw Self.refusal(for: error, host: host, port: port) }
    }

    /// Whether the stream of `begin` is connected. If not, wait for an event of its socket or for its deadline.
    ///
    /// - Parameter started: when it was begun.
    /// - Throws: the refusal for the client.
    public func hasArrived(
        _ stream: ByteStream, at host: String, port: UInt16, since started: LoopInstant
    ) throws(Refusal) -> Bool {
        do throws(IOError) {
            guard let result = stream.socket?.connectionResult() else {
                try stream.check()
                return false
            }
            try result.get()
        } catch {
            let refusal = Self.refusal(for: error, host: host, port: port)
            trace?.note(.connect, of: host, from: started, error: refusal.sentence)
            throw refusal
        }
        stream.setDeadline(after: nil)
        metrics.note(.connect, from: started, to: loop.now)
        trace?.note(.connect, of: host, from: started)
        return true
    }

    /// The address of a host that has only one, if it is known without a DNS query.
    private func onlyAddress(of host: String) -> IPAddress? {
        if let address = IPAddress(host) { return address }
        guard let known = try? network.knownAddresses(of: host), known.isComplete, known.addresses.count == 1 else {
            return nil
        }
        metrics.note(.nameLookup, from: loop.now, to: loop.now)
        trace?.note(.nameLookup, of: host, from: loop.now)
        return known.addresses.first
    }

    /// Whether DNS gives the host that address. False if no name server says so in time.
    public func confirms(_ address: IPAddress, of host: String) async -> Bool {
        guard let resolution = try? await resolve(host) else { return false }
        let isIt = { (known: IPAddress) in known.unmapped == address.unmapped }
        if !resolution.addresses.contains(where: isIt) { await resolution.complete(waking: wakeup) }
        return resolution.addresses.contains(where: isIt)
    }

    /// The addresses of a host to which connections to that port are permitted; not empty.
    public func permittedAddresses(of host: String, _ port: UInt16) async throws(Refusal) -> [IPAddress] {
        let isPermitted = { (address: IPAddress) in permits(address, port) }
        return try await resolve(host, port, isPermitted).addresses.filter(isPermitted)
    }

    private func permits(
        _ address: IPAddress, _ port: UInt16, isJudged: Bool = true, isForPractice: Bool = false
    ) -> Bool {
        switch own.kind(at: address, port: port) {
        case .proxy: return false
        case .admin where !isForPractice: return false
        case .admin, nil: return !isJudged || policy.rules.egress.permits(address, port: port).isPermitted
        }
    }

    /// The addresses of a host, at least one of them permitted at that port.
    private func resolve(
        _ host: String, _ port: UInt16, _ isPermitted: (IPAddress) -> Bool
    ) async throws(Refusal) -> Resolution {
        let resolution = try await resolve(host)
        // The addresses of the other family may be permitted.
        if !resolution.addresses.contains(where: isPermitted) { await resolution.complete(waking: wakeup) }
        guard resolution.addresses.contains(where: isPermitted) else {
            for address in resolution.addresses {
                if let kind = own.kind(at: address, port: port) { throw Refusal(kind, host: host, port: port) }
            }
            throw .prohibited(resolution.addresses, of: host, port: port, by: policy.rules.egress)
        }
        return resolution
    }

    private func resolve(_ host: String) async throws(Refusal) -> Resolution {
        do throws(Resolution.Failure) {
            if let address = IPAddress(host) { return Resolution([address]) }
            let started = loop.now
            defer { metrics.note(.nameLookup, from: started, to: loop.now) }
            do throws(Resolution.Failure) {
                let known = try network.knownAddresses(of: host)
                let resolution = if let known { known } else { try await lookUp(host) }
                trace?.note(.nameLookup, of: host, from: started)
                return resolution
            } catch {
                trace?.note(.nameLookup, of: host, from: started, error: "\(error)")
                throw error
            }
        } catch {
            switch error {
            case .noSuchName, .failed: throw Refusal(.badGateway, .dnsError, "\(error)")
            case .noAnswer: throw Refusal(.gatewayTimeout, .dnsTimeout, "\(error)")
            }
        }
    }

    /// Resolves the host. Other clients may ask for that name: a client that leaves ends its own wait, and not the
    /// query.
    private func lookUp(_ host: String) async throws(Resolution.Failure) -> Resolution {
        let answer = Expectation<Result<LoopBound<Resolution>, Resolution.Failure>>()
        let network = LoopBound(network, to: loop)
        loop.spawn {
            do throws(Resolution.Failure) {
                let resolution = try await network.value.addresses(of: host)
                answer.fulfil(.success(LoopBound(resolution, to: network.loop)))
            } catch { answer.fulfil(.failure(error)) }
        }
        guard let known = await answer.value(within: nil) else {
            throw .failed(host, reason: "no request waits for it now")
        }
        return try known.get().value
    }

    private static func refusal(for error: IOError, host: String, port: UInt16) -> Refusal {
        let peer = "\(host) port \(port)"
        switch error {
        case .timedOut:
            return Refusal(.gatewayTimeout, .connectionTimeout, "\(peer) did not accept a connection in time")
        case .system(let errno, _) where errno == ECONNREFUSED:
            return Refusal(.badGateway, .connectionRefused, "\(peer) refused the connection")
        case .system(let errno, _) where [EHOSTUNREACH, ENETUNREACH, EACCES].contains(errno):
            return Refusal(.badGateway, .destinationIPUnroutable, "there is no route to \(peer)")
        case _ where error.isLocalResource:
            return Refusal(
                .serviceUnavailable, .connectionLimitReached, "this proxy has no connection left; try again")
        default:
            return Refusal(.badGateway, .destinationUnavailable, "cannot connect to \(peer)")
        }
    }
}
