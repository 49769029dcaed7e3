import CPSL

/// The public suffixes: domains below which different owners register names, such as `com`, `co.uk` and `github.io`
/// (publicsuffix.org).
public enum PublicSuffix {
    /// Whether the domain is a public suffix; nil if libpsl is not installed.
    ///
    /// - Parameter domain: in lower case and its ASCII form, without a dot at either end.
    public static func contains(_ domain: String) -> Bool? {
        guard !domain.utf8.contains(0) else { return false }
        return isPublic?(domain)
    }

    /// Looks into the newest list on this machine: the distribution's file, or else the one in the library.
    private static let isPublic: (@Sendable (String) -> Bool)? = {
        var library = libpsl()
        guard libpsl_load(&library), let latest = library.latest, let ask = library.is_public_suffix2,
            let list = latest(nil)
        else { return nil }
        // The list is never changed or freed.
        let address = UInt(bitPattern: list)
        return { ask(UnsafeRawPointer(bitPattern: address), $0, LIBPSL_TYPE) != 0 }
    }()
}
