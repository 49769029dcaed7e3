import Bytes
import Crypto
import Model
import Testing

@testable import Authentication

/// The parts of a response that people see.
struct ResponseExcerptTests {
    private func text(_ content: String, _ mediaType: String? = nil, hiding mask: EchoMask = EchoMask()) -> String? {
        var excerpt = ResponseExcerpt(status: 401, fields: [], hiding: mask)
        excerpt.take(Array(content.utf8), mediaType: mediaType, hiding: mask)
        return excerpt.text
    }

    @Test(
        arguments: [
            ("account locked\r\n", nil, "account locked"), ("a\u{1B}[2Jb\u{7}c", "text/plain", "a [2Jb c"),
            ("a\u{202E}b \u{200B}c", "text/plain", "ab c"),
            ("{\"error\": \"locked\"}", "application/problem+json", "{\"error\": \"locked\"}"),
            ("<a>x</a>", "Application/XML; charset=utf-8", "<a>x</a>"), ("\u{0}\u{1}", nil, nil),
            ("PNG", "image/png", nil),
            ("x", "application/octet-stream", nil), ("data: x\n\n", "text/event-stream", nil), ("", "text/plain", nil),
            (" \r\n ", "text/html", nil), ("caf\u{E9}", "text/plain", "café"),
        ] as [(String, String?, String?)])
    func `a text is one line without anything that steers`(content: String, mediaType: String?, expected: String?) {
        #expect(text(content, mediaType) == expected)
    }

    @Test func `of a page there is what a browser shows`() {
        let page = """
            <!DOCTYPE html><html><head><title>401 &mdash; Unauthorized</title>
            <style>body { color: red }</style><script>var locked = "<p>no</p>"</script></head>
            <body><h1>Account <b>lock</b>ed</h1><!-- secret -->
            <p>Ask&nbsp;the <i>help&nbsp;desk</i>&#46;<br>5 &lt; 6</p>
            """
        for mediaType in ["text/html; charset=utf-8", nil] {
            let text = text(page, mediaType) ?? ""
            #expect(text.hasPrefix("401 ") && text.contains("Unauthorized Account locked"), "\(text)")
            #expect(text.hasSuffix("Ask the help desk. 5 < 6"), "\(text)")
            #expect(!text.contains("color") && !text.contains("var ") && !text.contains("secret"), "\(text)")
        }
        #expect(text("<p>a<p", "text/html") == "a")
    }

    @Test func `a text of any length has at most 1 KB, at the end of a character`() {
        for unit in ["x", "é", "€", "𝄞"] {
            let text = text(String(repeating: unit, count: 3000), "text/plain") ?? ""
            #expect(text.utf8.count <= 1024 && text.utf8.count > 1016 && text.hasSuffix("…"))
            #expect(text.dropLast().allSatisfy { String($0) == unit })
        }
        #expect(text(String(repeating: "x", count: 1024), "text/plain")?.utf8.count == 1024)
    }

    @Test func `of the fields those are kept that explain something, and no cookies`() {
        let fields = [
            ("Server", "nginx"), ("Set-Cookie", "session=secret"), ("WWW-Authenticate", "Basic"), ("Date", "now"),
            ("X-Reason", "locked\u{1B}"), ("Retry-After", String(repeating: "6", count: 1000)),
        ]
        let excerpt = ResponseExcerpt(status: 429, fields: fields, hiding: EchoMask())
        #expect(excerpt.status == 429 && excerpt.fields.prefix(2) == ["Server: nginx", "X-Reason: locked"])
        #expect(excerpt.fields.count == 3 && excerpt.fields[2].utf8.count == 256 && excerpt.text == nil)
        let many = (0..<100).map { ("X-\($0)", "y") }
        #expect(ResponseExcerpt(status: 401, fields: many, hiding: EchoMask()).fields.count == 8)
    }

    // MARK: - What was sent

    private func mask(password: String = "s3cret/+ü\"", user: String = "u") -> EchoMask {
        var mask = EchoMask()
        mask.add(Credential(name: "a", user: user, password: Secret(password)))
        return mask
    }

    @Test(arguments: [
        "s3cret/+ü\"", "s3cret%2F%2B%C3%BC%22", "s3cret%2f%2b%c3%bc%22", "s3cret/+\\u00fc\\\"", "s3cret\\/+ü\\\"",
    ])
    func `a password that the page echoes is hidden, however it is escaped`(echo: String) {
        let text = mask().hide(in: "user u, password \(echo), and more")
        #expect(text == "user u, password ***, and more")
    }

    @Test func `a password within Base64 or hexadecimal digits is hidden with the whole run`() {
        let mask = mask(password: "s3cret")
        for prefix in ["u:", "uu:", "uuu:", "", "\u{0}u\u{0}"] {
            for suffix in ["", "x", "xx"] {
                let plain = Array("\(prefix)s3cret\(suffix)".utf8)
                let coded = Base64.encode(plain)
                for run in [coded, coded.replacing("+", with: "-").replacing("/", with: "_"), Hex.encode(plain)] {
                    let text = mask.hide(in: "sent \"\(run)\" to us")
                    #expect(
                        !text.contains(run.prefix { $0 != "=" }) && text.hasPrefix("sent \"***")
                            && text.hasSuffix("\" to us"))
                }
            }
        }
        #expect(
            mask.hide(in: "nothing of the kind: authentication c2VjcmV0 73656372")
                == "nothing of the kind: authentication c2VjcmV0 73656372")
    }

    @Test func `a short password is hidden where it stands alone, and in a Basic answer`() {
        let mask = mask(password: "p")
        #expect(mask.hide(in: "please type p, or (p)") == "please type ***, or (***)")
        #expect(mask.hide(in: "you sent Basic dTpw.") == "you sent Basic ***.")
    }

    @Test func `tokens, cookies and the client's own login are hidden`() {
        var mask = EchoMask()
        mask.add(Credential(name: "t", token: Secret("tok-en.1~2")))
        mask.add(authorization: "Basic bWU6aHVudGVyMg==".utf8Span.span)
        mask.add(cookies: "a=1; session=abcdef; b=\"quoted\"".utf8Span.span)
        let text = mask.hide(in: "tok-en.1~2 hunter2 bWU6aHVudGVyMg== abcdef 1")
        #expect(text == "*** *** *** *** 1")
    }

    @Test func `answers to challenges are hidden, and words about them are not`() {
        let ntlm = "NTLM TlRMTVNTUAADAAAAGAAYAEAAAAA="
        let digest = #"Digest username="u", response="0123456789abcdef0123456789abcdef""#
        let text = EchoMask().hide(
            in: "Basic authentication required; \(ntlm); \(digest); negotiate YIIBhgYGKwYBBQUCoIIB")
        #expect(
            text.hasPrefix("Basic authentication required; NTLM ***; Digest username=\"u\", response=\"***\"; "),
            "\(text)")
        #expect(text.hasSuffix("negotiate ***"))
    }

    @Test func `blanks and marks without a width neither hide a secret nor make one`() {
        let mask = mask(password: "two  words\t!")
        #expect(text("it was two  words\t!", "text/plain", hiding: mask) == "it was ***")
        #expect(text("it was s3\u{200B}cret", "text/plain", hiding: self.mask(password: "s3cret")) == "it was ***")
    }

    @Test func `a secret that the end of the text would cut in two is hidden before`() {
        let text = text(String(repeating: "x ", count: 510) + "s3cret", "text/plain", hiding: mask(password: "s3cret"))
        #expect(text?.contains("s3c") == false)
    }
}
