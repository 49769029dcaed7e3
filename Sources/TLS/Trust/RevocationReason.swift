/// Why a certificate was revoked (RFC 5280 section 5.3.1), in words.
enum RevocationReason {
    /// Nil for a code that says nothing.
    static func words(_ code: Int) -> String? {
        switch code {
        case 1: "its key was compromised"
        case 2: "its authority was compromised"
        case 3: "its holder changed"
        case 4: "it was superseded"
        case 5: "it is no longer used"
        case 6: "it is on hold"
        case 9: "a privilege was withdrawn"
        case 10: "an authority for attributes was compromised"
        default: nil
        }
    }
}
