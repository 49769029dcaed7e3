import Glibc

/// The kinds of addresses, each of which has a record type of its own.
enum Family: CaseIterable {
    /// Asked for first, since it is tried first (RFC 8305 section 3).
    case v6
    case v4

    var number: Int32 { self == .v6 ? AF_INET6 : AF_INET }
}
