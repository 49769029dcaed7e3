import CCurl

/// libcurl, loaded at its first use.
enum CurlLibrary {
    /// - Throws: `unavailable`.
    static func load() throws(FTPError) -> libcurl {
        guard let loaded else {
            throw .unavailable("libcurl is not installed here (libcurl.so.4, Debian's libcurl4)")
        }
        // Certificates are judged through OpenSSL, by the instance of it that this process uses.
        guard libcurl_uses_openssl_3(loaded) else {
            throw .unavailable("the libcurl that is installed here does not speak TLS by OpenSSL 3")
        }
        return loaded
    }

    private static let loaded: libcurl? = {
        var table = libcurl()
        return libcurl_load(&table) ? table : nil
    }()
}
