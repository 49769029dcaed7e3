import Bytes
import DNS
import IO

/// Connects to one of several addresses by Happy Eyeballs (RFC 8305). Attempts start 250 ms apart, or as soon as the
/// previous one has failed. The first that connects is used, and the others are closed.
public struct Connector {
    private let loop: EventLoop
    private let wakeup: Wakeup
    private var waiting: ArraySlice<SocketAddress>
    private var attempts: [Socket] = []
    private var failure = IOError.timedOut
    /// The number of addresses taken over from the resolution.
    private var known = 0

    /// The time between attempts: RFC 8305 section 8, "Connection Attempt Delay".
    private static let stagger: Milliseconds = 250

    private init(on loop: EventLoop, wakeup: Wakeup) {
        self.loop = loop
        self.wakeup = wakeup
        waiting = []
    }

    /// - Parameters:
    ///   - addresses: already judged; no others are dialled.
    ///   - limit: the time for all attempts together.
    /// - Throws: `timedOut`, or the error of the last attempt that failed.
    public static func connect(
        to addresses: [SocketAddress], within limit: Milliseconds, on loop: EventLoop, wakeup: Wakeup
    ) async throws(IOError) -> ByteStream {
        var connector = Connector(on: loop, wakeup: wakeup)
        connector.waiting = interleaved(addresses)[...]
        return ByteStream(try await connector.race(within: limit) { _ in true })
    }

    /// Connects to one of a name's addresses, also to those that arrive while others are tried (RFC 8305 section 3).
    ///
    /// - Parameters:
    ///   - isPermitted: asked for every address; only permitted ones are dialled.
    public static func connect(
        to resolution: Resolution, port: UInt16, within limit: Milliseconds, on loop: EventLoop, wakeup: Wakeup,
        where isPermitted: (SocketAddress) -> Bool
    ) async throws(IOError) -> ByteStream {
        var connector = Connector(on: loop, wakeup: wakeup)
        resolution.add(wakeup)
        return ByteStream(
            try await connector.race(for: (resolution, port), within: limit, where: isPermitted))
    }

    private mutating func race(
        for name: (resolution: Resolution, port: UInt16)? = nil, within limit: Milliseconds,
        where isPermitted: (SocketAddress) -> Bool
    ) async throws(IOError) -> Socket {
        let next = Alarm(on: loop) { [wakeup] in wakeup.signal() }
        let deadline = Alarm(on: loop) { [wakeup] in wakeup.signal() }
        deadline.set(after: limit)
        while true {
            if let winner = arrived() {
                for loser in attempts where loser !== winner { loser.close() }
                return winner
            }
            if deadline.hasRung || wakeup.isCancelled {
                for attempt in attempts { attempt.close() }
                throw wakeup.isCancelled ? .closed : .timedOut
            }
            if let name { take(name.resolution, port: name.port, where: isPermitted) }
            if attempts.isEmpty || next.hasRung, let address = waiting.popFirst() {
                start(address)
                if !waiting.isEmpty || name.map({ !$0.resolution.isComplete }) ?? false {
                    next.set(after: Self.stagger)
                }
                continue
            }
            if attempts.isEmpty, name?.resolution.isComplete ?? true { throw failure }
            await wakeup.wait()
        }
    }

    /// Takes over the addresses that have arrived since the last call.
    private mutating func take(
        _ resolution: Resolution, port: UInt16, where isPermitted: (SocketAddress) -> Bool
    ) {
        guard known < resolution.addresses.count else { return }
        for address in resolution.addresses[known...] {
            let address = SocketAddress(address, port: port)
            if isPermitted(address) { waiting.append(address) }
        }
        known = resolution.addresses.count
        if waiting.count > 1 { waiting = Self.interleaved(Array(waiting))[...] }
    }

    private mutating func start(_ address: SocketAddress) {
        do throws(IOError) {
            let attempt = try Socket.connecting(to: address, on: loop)
            attempt.wakeup = wakeup
            attempts.append(attempt)
        } catch {
            failure = error
        }
    }

    /// The first connected attempt. Failed attempts are closed and removed.
    private mutating func arrived() -> Socket? {
        var index = 0
        while index < attempts.count {
            switch attempts[index].connectionResult() {
            case .success: return attempts[index]
            case .failure(let error):
                failure = error
                attempts.remove(at: index).close()
            case nil: index += 1
            }
        }
        return nil
    }

    /// RFC 8305 section 4: the families alternate, IPv6 first, each in the resolver's order.
    static func interleaved(_ addresses: [SocketAddress]) -> [SocketAddress] {
        var six = addresses.filter { $0.address.family == .v6 }[...]
        var four = addresses.filter { $0.address.family == .v4 }[...]
        var ordered: [SocketAddress] = []
        while !six.isEmpty || !four.isEmpty {
            if let address = six.popFirst() { ordered.append(address) }
            if let address = four.popFirst() { ordered.append(address) }
        }
        return ordered
    }
}
