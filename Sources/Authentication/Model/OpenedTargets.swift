import Bytes
import Synchronization

/// The targets that a space has opened to answers, as far as there is room for them: a refusal at one of them speaks against
/// the credential, one at another may be about the target.
///
/// Each request with an answer is noted, so that this takes no lock: a table of hashes, of which a later one takes the place
/// of an earlier. A target that is forgotten counts as one that was never opened, which parks nothing.
public final class OpenedTargets: Sendable {
    private static let capacity = 128
    private let hashes = InlineArray<128, Atomic<UInt64>> { _ in Atomic(0) }

    /// The target was opened to an answer with the version of that fingerprint.
    func note(_ target: Span<UInt8>, to fingerprint: UInt128) {
        let hash = Self.hash(target, fingerprint)
        let index = Int(truncatingIfNeeded: hash % UInt64(Self.capacity))
        if hashes[index].load(ordering: .relaxed) != hash { hashes[index].store(hash, ordering: .relaxed) }
    }

    func contains(_ target: Span<UInt8>, for fingerprint: UInt128) -> Bool {
        let hash = Self.hash(target, fingerprint)
        return hashes[Int(truncatingIfNeeded: hash % UInt64(Self.capacity))].load(ordering: .relaxed) == hash
    }

    /// Of the path, without the query.
    static func hash(_ target: Span<UInt8>, _ fingerprint: UInt128) -> UInt64 {
        let end = target.firstIndex(of: UInt8(ascii: "?")) ?? target.count
        return SpanHash.of(target.extracting(first: end), seed: UInt64(truncatingIfNeeded: fingerprint))
    }
}
