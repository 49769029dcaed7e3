import Foundation
import Testing

struct LegacyCredentialTests {
    /// Returns the message of `attache run` about a credential in a PKCS#12 file that was encrypted with RC2.
    private func complaint(environment: String) throws -> String {
        let folder = try Folder([
            "proxy.conf": "listen 127.0.0.1:0\ncredential device { pkcs12 device.p12; passphrase sesame }\n"
        ])
        return try AttacheProgram.run(
            """
            openssl req -x509 -newkey rsa:2048 -noenc -keyout key.pem -out cert.pem -subj /CN=device -days 90 2> /dev/null
            openssl pkcs12 -export -legacy -inkey key.pem -in cert.pem -passout pass:sesame -out device.p12
            : > log
            \(environment) attache run > log 2>&1 &
            for try in $(seq 1200); do grep -qE "listening|credential" log && break; sleep 0.05; done
            kill $! && wait $!
            grep '^attache: credential' log
            """, in: folder
        ).replacing(folder.url.path, with: ".").output
    }

    @Test func `an old file is read, and without the legacy provider it is said what is missing`() throws {
        #expect(try complaint(environment: "") == "")
        #expect(
            try complaint(environment: "OPENSSL_MODULES=/nonexistent")
                == "attache: credential device: ./device.p12: it is encrypted with an old algorithm, and OpenSSL's "
                + "legacy provider is not installed: install it, or encrypt the key again\n")
    }
}
