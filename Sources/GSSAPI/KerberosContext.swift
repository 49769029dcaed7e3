import CGSSAPI
import Glibc

/// One operation's context of libkrb5: not to be shared by threads, and cheap enough to be made for each. It reads the
/// system's configuration, or that of `KRB5_CONFIG`, as it is now.
final class KerberosContext {
    let library: kerberos_library
    let handle: krb5_context

    init() throws(GSSAPIError) {
        library = try GSSAPILibrary.load()
        var made: krb5_context?
        let code = library.krb5_init_context(&made)
        guard code == 0, let made else {
            throw GSSAPIError(.unavailable, "the Kerberos configuration cannot be used (error \(code))")
        }
        handle = made
    }

    deinit { library.krb5_free_context(handle) }

    /// - Parameter deed: how the sentence begins; the library's own words follow.
    func require(_ code: krb5_error_code, _ deed: @autoclosure () -> String) throws(GSSAPIError) {
        guard code == 0 else { throw GSSAPIError(.unavailable, "\(deed()): \(words(for: code))") }
    }

    /// The library's words, with the first letter small and without a period: they follow a colon.
    func words(for code: krb5_error_code) -> String {
        guard let message = library.krb5_get_error_message(handle, code) else { return "error \(code)" }
        defer { library.krb5_free_error_message(handle, message) }
        return GSSAPIError.sentence(String(cString: message))
    }

    func principal(_ name: String) throws(GSSAPIError) -> krb5_principal {
        var principal: krb5_principal?
        // The library would read no further.
        if name.utf8.contains(0) { throw GSSAPIError(.unavailable, "a name with a zero byte is no principal") }
        try require(library.krb5_parse_name(handle, name, &principal), "\(name) is no principal")
        guard let principal else { throw GSSAPIError(.unavailable, "\(name) is no principal") }
        return principal
    }

    func name(of principal: krb5_const_principal?) -> String {
        var text: UnsafeMutablePointer<CChar>?
        guard library.krb5_unparse_name(handle, principal, &text) == 0, let text else { return "" }
        defer { library.krb5_free_unparsed_name(handle, text) }
        return String(cString: text)
    }

    /// The realm that a host belongs to as the configuration maps it; empty: the KDC is to find out (RFC 6806).
    func realm(ofHost host: String) -> String {
        var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        guard library.krb5_get_host_realm(handle, host, &list) == 0, let list else { return "" }
        defer { _ = library.krb5_free_host_realm(handle, list) }
        return list[0].map { String(cString: $0) } ?? ""
    }
}

extension GSSAPIError {
    /// A library's message as the end of a sentence. There may be a KDC's words in it, which nobody has signed.
    static func sentence(_ message: String) -> String {
        let shown = message.unicodeScalars.prefix(300).map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: " "
            default: scalar
            }
        }
        var text = String(String.UnicodeScalarView(shown))[...]
        while let last = text.last, last == "." || last == " " { text.removeLast() }
        guard let first = text.first, text.dropFirst().first.map({ !$0.isUppercase }) ?? true else {
            return String(text)
        }
        return first.lowercased() + text.dropFirst()
    }
}
