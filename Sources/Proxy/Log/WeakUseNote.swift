import Authentication
import Bytes
import Challenges
import Forwarding
import HTTP
import IO
import Model
import TLS
import Telemetry
import Transport
import Upstream

/// Records weak mechanisms on the way to servers, which others on the network can read or break, and who uses them.
extension Downstream {
    /// Records the weak mechanisms that the exchange used.
    ///
    /// - Parameter latest: the last record for this client. The same use is recorded once in ten seconds.
    func noteWeakMechanisms(of exchange: Exchange, after latest: inout WeakUseNote) {
        let record = exchange.record
        let tls = record.facts.security?.dated ?? []
        guard let destination = exchange.destination else { return }
        let note = WeakUseNote(
            origin: ObjectIdentifier(destination.origin), ways: tls.union(record.facts.answer?.dated ?? []),
            parentWays: record.facts.parentAnswer?.dated ?? [],
            time: loop.now)
        guard !latest.covers(note) else { return }
        latest = note
        let parties = (client: words(for: record.facts.user), application: exchange.application)
        func put(_ ways: WeakMechanisms, _ server: UpstreamServer?, _ credential: String?) {
            guard let authority = server?.authority else { return }
            for finding in ways.words {
                let peer = WeakUse.Server(
                    authority.protocol.rawValue, host: authority.host, port: authority.port,
                    as: authority.isProxy ? .parent : .origin)
                shared.datedUses.note(
                    WeakUse(
                        finding, of: peer, by: parties.client, parties.application,
                        with: credential.map { JournalText.printable($0, longest: 64) }, at: loop.wallTime))
            }
        }
        put(tls, destination.origin, nil)
        if let answer = record.facts.answer { put(answer.dated, destination.origin, answer.credential) }
        let parent = destination.hops.compactMap(\.parent).first { $0.figures === record.facts.parent }
        if let answer = record.facts.parentAnswer { put(answer.dated, parent?.origin, answer.credential) }
    }

    /// Records a client that was refused because it speaks no TLS above 1.1, if that is the error.
    func noteWeakClient(_ error: HandshakeError, of user: String?, calling server: WeakUse.Server) {
        guard case .tls(.peer(reason: TLSError.tooOldVersion)) = error else { return }
        for finding in WeakMechanisms.refusedTLS.words {
            shared.datedUses.note(
                WeakUse(finding, of: server, by: words(for: user), nil, with: nil, at: loop.wallTime))
        }
    }

    private func words(for user: String?) -> String {
        user.map { "\(JournalText.printable($0, longest: 64)) at \(shownAddress)" } ?? shownAddress
    }

    /// The last record of a client's weak mechanisms.
    struct WeakUseNote {
        var origin: ObjectIdentifier?
        var ways: WeakMechanisms = []
        var parentWays: WeakMechanisms = []
        /// The time of the note.
        var time = LoopInstant.zero

        private static let memory: Milliseconds = 10_000

        func covers(_ other: WeakUseNote) -> Bool {
            origin == other.origin && ways == other.ways && parentWays == other.parentWays
                && other.time < time + Self.memory
        }
    }
}
