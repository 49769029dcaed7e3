import Authentication
import Bytes
import Credentials
import Model

/// A process's knowledge of a protection space, or of an origin, for an explanation. It has names of credentials, never
/// their values.
public struct SpaceFacts: Sendable {
    /// The stored credential that `default` answers with; nil if none is stored for the space.
    public let stored: String?
    /// The credentials that are doubted at the origin.
    public let held: [(name: String, standing: Account.Standing, reason: String?)]
    /// The credentials that would not be sent now for the target, and until when; `distantFuture` if until the
    /// value is set again.
    public let refused: [(name: String, end: WallTime)]
    /// The space of the target, if its requests are answered preemptively; nil otherwise.
    public let covering: ProtectionSpace?
    /// The credentials that the space has accepted.
    public let accepted: [String]
    /// Whether the target was last seen to ask for no credential.
    public let isOpen: Bool
    /// Whether a credential is stored for the origin.
    public let isServed: Bool
}

extension ChallengeState {
    /// - Parameters:
    ///   - space: the space; of the method `default` to ask about the origin.
    ///   - target: the request target as the origin gets it.
    public func facts(of space: ProtectionSpace, at target: Span<UInt8>, now: WallTime) -> SpaceFacts {
        let isOfOrigin = space.authenticationMethod == .default
        let origin = space.origin
        let known = spaces.known(
            host: origin.host.utf8Span.span, port: origin.port, protocol: origin.protocol, isProxy: origin.isProxy)
        let covering = known?.space(covering: target)
        let stored = isOfOrigin ? nil : storage.proposedCredential(for: space)
        return SpaceFacts(
            stored: stored?.version.name,
            held: spaces.accounts.standings(at: origin.serverName, now: now),
            refused: spaces.accounts.refused(at: origin.serverName, for: Evidence.hash(target), now: now),
            covering: covering?.space, accepted: covering?.acceptedNames ?? [],
            isOpen: known?.isOpen(target) ?? false, isServed: storage.mayAnswer(origin))
    }
}
