import Bytes
import DNS
import Glibc
import IO
import Transport
import Upstream

/// A connection that the proxy wants, and what becomes of it.
public final class PlayedDial {
    public enum Outcome {
        case accepted
        /// The server reads nothing yet.
        case stalled
        case refused
        case unreachable
    }

    public let place: String
    private let way: UpstreamPath
    fileprivate var outcome: Outcome?
    fileprivate var hasEnded = false
    /// The server's end, once there is one.
    public fileprivate(set) var end: PlayedEnd?

    /// The way that the proxy waits for it.
    fileprivate enum UpstreamPath {
        /// A task does.
        case task(Wakeup)
        /// The events of its socket tell.
        case socket(PlayedEnd)
    }

    fileprivate init(to place: String, by way: UpstreamPath) {
        self.place = place
        self.way = way
    }

    /// Whether the proxy waits for it no longer.
    public var isOver: Bool {
        switch way {
        case .task: hasEnded
        case .socket(let end): end.isGivenUp
        }
    }

    public func settle(_ outcome: Outcome) {
        self.outcome = outcome
        switch way {
        case .task(let wakeup): wakeup.signal()
        case .socket(let end):
            switch outcome {
            case .refused, .unreachable: return end.reset()
            case .accepted, .stalled: end.accept()
            }
            self.end = end
            if outcome == .stalled { end.stall() }
        }
    }
}

/// A network whose servers are played: each name has an address of its own, and those below `invalid` none. Those below `known`
/// are known without a question.
public final class PlayedNetwork: Network {
    /// The connections that no step has named.
    public var dials: [PlayedDial] = []
    private let loop: EventLoop
    private var names: [String] = []

    /// 192.0.2.0/24, RFC 5737.
    private static let first: UInt32 = 0xC000_0201

    public init(on loop: EventLoop) { self.loop = loop }

    public func knownAddresses(of name: String) throws(Resolution.Failure) -> Resolution? {
        name.hasSuffix(".known") ? try resolution(of: name) : nil
    }

    public func addresses(of name: String) async throws(Resolution.Failure) -> Resolution { try resolution(of: name) }

    private func resolution(of name: String) throws(Resolution.Failure) -> Resolution {
        if let address = IPAddress(name) { return Resolution([address]) }
        if name.hasSuffix(".invalid") { throw .noSuchName(name) }
        if !names.contains(name) { names.append(name) }
        return Resolution([IPAddress(v4: Self.first + UInt32(names.firstIndex(of: name) ?? 0))])
    }

    public func connect(
        to resolution: Resolution, port: UInt16, within limit: Milliseconds, waking wakeup: Wakeup,
        where isPermitted: (SocketAddress) -> Bool
    ) async throws(IOError) -> ByteStream {
        guard let address = resolution.addresses.first(where: { isPermitted(SocketAddress($0, port: port)) }) else {
            throw .timedOut
        }
        let dial = PlayedDial(to: "\(name(of: address)):\(port)", by: .task(wakeup))
        defer { dial.hasEnded = true }
        dials.append(dial)
        let deadline = Alarm(on: loop) { wakeup.signal() }
        deadline.set(after: limit)
        while dial.outcome == nil {
            if wakeup.isCancelled { throw .closed }
            if deadline.hasRung { throw .timedOut }
            await wakeup.wait()
        }
        switch dial.outcome {
        case .refused: throw .system(errno: ECONNREFUSED, operation: "cannot connect")
        case .unreachable: throw .system(errno: EHOSTUNREACH, operation: "cannot connect")
        case .accepted, .stalled, nil: break
        }
        let (socket, end) = try PlayedEnd.pair(on: loop)
        dial.end = end
        if dial.outcome == .stalled { end.stall() }
        socket.wakeup = wakeup
        while socket.connectionResult() == nil { await wakeup.wait() }
        return ByteStream(socket)
    }

    public func begin(to address: SocketAddress) throws(IOError) -> Socket {
        let (socket, end) = try PlayedEnd.connecting(on: loop)
        dials.append(PlayedDial(to: "\(name(of: address.address)):\(address.port)", by: .socket(end)))
        return socket
    }

    private func name(of address: IPAddress) -> String {
        names.enumerated().first { IPAddress(v4: Self.first + UInt32($0.offset)) == address }?.element ?? "\(address)"
    }
}
