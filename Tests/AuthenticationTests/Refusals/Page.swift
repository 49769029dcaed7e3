#if canImport(Authentication)
@testable import Authentication
#endif

/// A page that clients ask for, by the way in which servers treat it.
struct Page: Hashable, CustomStringConvertible {
    enum Kind: Int, CaseIterable {
        /// Open to the account, by a request that the proxy can repeat.
        case open
        /// Open to the account, by a request that cannot be repeated, such as a POST.
        case posted
        /// Closed to the account.
        case forbidden
        /// Open, but refused for a field of this client's.
        case spoiled
        /// Open, also where the pages that were open before have become forbidden.
        case new
    }

    let kind: Kind
    let number: Int

    static func open(_ number: Int) -> Page { Page(kind: .open, number: number) }
    static func forbidden(_ number: Int) -> Page { Page(kind: .forbidden, number: number) }
    static func spoiled(_ number: Int) -> Page { Page(kind: .spoiled, number: number) }

    /// The hash that an `Account` has of it.
    var target: UInt64 { UInt64(kind.rawValue + Kind.allCases.count * number) }

    init(kind: Kind, number: Int) {
        self.kind = kind
        self.number = number
    }

    init(target: UInt64) {
        let value = Int(truncatingIfNeeded: target)
        kind = Kind(rawValue: value % Kind.allCases.count) ?? .open
        number = value / Kind.allCases.count
    }

    /// Whether the server accepts a request for it while it accepts the version.
    var isOpen: Bool { kind == .open || kind == .posted || kind == .new }

    /// The accepted request, for a probe; nil: it cannot be repeated.
    var sample: Account.Sample? {
        kind == .open || kind == .new ? Account.Sample(target: target, content: []) : nil
    }

    var description: String { "\(kind) \(number)" }
}
