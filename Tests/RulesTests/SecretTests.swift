import Model
import Rules
import Testing

/// No report may show the password in a file, with any error in any place.
@Suite struct SecretTests {
    static let files = [
        "credential ci { user builder; password hunter2 }",
        "credential ci { user builder; password \"hunter2\" }",
        "credential ci { user builder; pasword hunter2 }",
        "credential ci { user builder; passwd hunter2 }",
        "credential ci { user builder; secret hunter2 }",
        "credential ci { user builder; key-phrase hunter2 }",
        "credential ci { user builder; password\nhunter2 }",
        "credential ci { user builder; password \"hunter2\n }",
        "credential ci { user builder; password \"\nhunter2\" }",
        "credential ci user builder password hunter2",
        "credental ci { user builder; colour hunter2 }",
        "password hunter2",
        "credential ci { user builder; PASSWORD hunter2 }",
        "credential ci { user builder; password hunter2 more }",
        "credential ci { user builder; password { hunter2 } }",
        "credential ci { user builder; password = hunter2 }",
        "challenge { host https://u:hunter2@a.example/; reject }",
        "store postgresql \"host=db password=hunter2\"",
        "store sqlite x.db { key hunter2 }",
        "store sqlite x.db { kee hunter2 }",
        "clients { nonce-key hunter2 }",
        "credential ci { oauth2 https://a.example/; client-id x; client-secret hunter2 }",
        "credential ci { oauth2 https://a.example/; client-id x; refresh-token hunter2; assertion hunter2 }",
        "credential ci { aws a b; access-key hunter2; secret-key hunter2; session-token hunter2 }",
        "credential ci { oauth1 plaintext; consumer-key hunter2; consumer-secret hunter2; token-secret hunter2 }",
        "credential ci { oauth1 hmac-sha1; access-token hunter2; token-secret hunter2; consumer-secret hunter2 }",
        "credential ci { sign key a; passphrase hunter2 }",
        "credential ci { certificate a; key b; passphrase hunter2 }",
        "credential ci { pkcs11 \"pkcs11:object=a?pin-value=hunter2\" }",
        "credential ci { token hunter2 }",
        "authority { certificate a; key b; passphrase hunter2 }",
        "threads x # password hunter2",
        "threads x # pass: hunter2",
    ]

    @Test(arguments: files)
    func `no report shows a secret`(file: String) throws {
        let faults = [
            "", "}", " {", "\"", "\\", "\n}", "; x \"", " x", "\u{1}", "\nlimits { head hunter }",
            "\ncredential ci { }",
        ]
        for fault in faults {
            for text in [file + fault, fault + file, fault + "\n" + file] {
                #expect(!(try report(text)).contains("hunter2"), "\(text)")
            }
        }
        // Cut anywhere, too.
        for end in file.indices {
            let cut = String(file[..<end]) + "\nthreads ? "
            #expect(!(try report(cut)).contains("hunter2"), "\(cut)")
        }
    }

    @Test func `a redacted text has no description`() {
        let secret = RedactedText("hunter2")
        var dumped = ""
        dump(secret, to: &dumped)
        let source = ValueSource.literal(secret)
        for text in ["\(secret)", String(reflecting: secret), dumped, "\(source)", String(reflecting: [source])] {
            #expect(!text.contains("hunter2"), "\(text)")
        }
        #expect(secret.reveal() == "hunter2")
    }

    @Test func `a secret keeps what it is`() throws {
        let text = #"credential ci { user "CORP\\a b"; password "a\"b;}#" } challenge { host a; use ci }"#
        let file = try RuleFile("proxy.conf", from: PlayedReader(["proxy.conf": text]))
        let credential = try #require(file.configuration?.credential(named: "ci"))
        let user = ValueSource.literal(RedactedText(#"CORP\a b"#))
        #expect(credential.content == .password(user: user, password: .literal(RedactedText(#"a"b;}#"#))))
    }
}
