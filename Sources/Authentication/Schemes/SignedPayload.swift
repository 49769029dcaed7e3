import Bytes
import Crypto

/// What a signature says of a request's content: `X-Amz-Content-Sha256`, and the last line of what is signed.
public enum SignedPayload: Sendable, Equatable {
    /// The SHA-256 of the content.
    case digest([UInt8])
    /// `UNSIGNED-PAYLOAD`.
    case unsigned
    /// What the client says of it: a digest it has made, or how it has framed content that is not signed.
    case stated(String)

    /// Why a client's word cannot be kept: its content is signed piece by piece, with a key that is not ours.
    public struct SignedByClient: Error {}

    /// - Parameter field: the client's own `X-Amz-Content-Sha256`.
    public init(_ field: Span<UInt8>) throws(SignedByClient) {
        let word = field.text
        if word.hasPrefix("STREAMING-AWS4-") { throw SignedByClient() }
        self = .stated(word)
    }

    var text: String {
        switch self {
        case .digest(let digest): Hex.encode(digest)
        case .unsigned: "UNSIGNED-PAYLOAD"
        case .stated(let word): word
        }
    }
}
