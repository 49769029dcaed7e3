import Bytes
import Crypto
import Foundation
import Model
import Testing

@testable import Authentication

@Suite struct FormLoginTests {
    private static let template = LoginTemplate(
        action: "/login",
        fields: [.init(name: "user", value: [.user]), .init(name: "pass", value: [.text("x-"), .password])])

    private func login(
        _ template: LoginTemplate = Self.template, user: String = "bob", password: String = "pä ss&"
    ) -> FormLogin {
        FormLogin(
            template, to: Origin(host: "h", port: 80, protocol: .http),
            with: Credential(name: "c", user: user, password: Secret(password)), boundary: "b")
    }

    private func page(
        _ status: Int = 200, _ html: String? = nil, location: String? = nil, cookies: [String] = [],
        isRecognised: Bool = false
    ) -> LoginPage {
        LoginPage(
            status: status, location: location.map { Array($0.utf8) }, cookies: cookies.map { Array($0.utf8) },
            contentType: "text/html; charset=utf-8", content: html.map { Array($0.utf8) }, isRecognised: isRecognised)
    }

    private func text(_ step: FormLogin.Step) -> String {
        switch step {
        case .get(let target): "GET \(target.span.text)"
        case .post(let target, let content, _): "POST \(target.span.text) \(content.bytes.withBytes { $0.text })"
        case .loggedIn(let jar, _): "in \(jar.cookies.map { $0.name.span.text }.joined(separator: " "))"
        case .refused: "refused"
        case .failed(let error): "\(error)"
        }
    }

    private static let form =
        "<form action=/login><input type=hidden name=csrf value='t&amp;1'><input name=user>"
        + "<input type=password name=pass><input type=submit name=go value=Go></form>"
    private static let content = "user=bob&pass=x-p%C3%A4+ss%26"

    @Test func `the page's hidden fields go along, and the session is what was set last`() {
        var login = login()
        #expect(text(login.begin(at: Array("/app?x".utf8))) == "GET /app?x")
        #expect(
            text(login.received(page(302, location: "/login?next=/app", cookies: ["s=0"]), now: 0))
                == "GET /login?next=/app")
        let step = login.received(page(200, Self.form, isRecognised: true), now: 0)
        #expect(text(step) == "POST /login csrf=t%261&\(Self.content)&go=Go")
        guard case .post(_, _, let from) = step else { return }
        #expect(from.span.text == "/login?next=/app")
        #expect(text(login.received(page(303, location: "/", cookies: ["s=1", "t=2"]), now: 0)) == "GET /")
        let end = login.received(page(200, "welcome"), now: 0)
        #expect(text(end) == "in s t")
        guard case .loggedIn(_, let landing) = end else { return }
        #expect(landing == [.slash])
    }

    @Test func `a response that is there already is the first page`() {
        var login = login()
        let step = login.begin(with: page(200, Self.form, cookies: ["s=0"], isRecognised: true), at: [.slash], now: 0)
        #expect(text(step) == "POST /login csrf=t%261&\(Self.content)&go=Go")
        #expect(!login.jar.isEmpty)
    }

    @Test(arguments: [
        // The page says more of the very path that the rule names, and nothing of another.
        ("<form action='/login;id=1?x=2'><input type=password name=pass></form>", "/login;id=1?x=2", "pass"),
        ("<form action='http://h/login?x'><input type=password name=pass></form>", "/login?x", "pass"),
        ("<form action='http://evil/login'><input type=password name=pass></form>", "/login", "pass"),
        ("<form action=/steal><input type=password name=pass></form>", "/login", "pass"),
        // A parameter that could contain a slash leads elsewhere on some servers.
        ("<form action='/login;/%2e%2e/evil/steal'><input type=password name=pass></form>", "/login", "pass"),
        ("<form action='/login;%2f..%2fevil?x'><input type=password name=pass></form>", "/login", "pass"),
        ("<form action='/login;a=1;b=2'><input type=password name=pass></form>", "/login", "pass"),
        (#"<form action='/login;\..\evil'><input type=password name=pass></form>"#, "/login", "pass"),
        ("<form action='/login/x'><input type=password name=pass></form>", "/login", "pass"),
        ("<form action='/login2'><input type=password name=pass></form>", "/login", "pass"),
        (
            "<form action='/login;jsessionid=0A.n-1!5'><input type=password name=pass></form>",
            "/login;jsessionid=0A.n-1!5", "pass"
        ),
        // The form is the one that asks for the most.
        (
            "<form action=/search><input name=q></form><form><input type=hidden name=h value=1><input type=password name=other></form>",
            "/login", "h"
        ),
        (
            "<form><input name=a type=password></form><form><input name=user><input name=b value=1></form>", "/login",
            "b"
        ),
        (
            "<form action=/register><input name=user><input name=r value=1></form><form action=/login><input name=user><input name=l value=2></form>",
            "/login", "l"
        ),
    ])
    func `the form goes where the rule says`(html: String, target: String, name: String) {
        var login = login()
        _ = login.begin(at: [.slash])
        guard case .post(let place, let content, _) = login.received(page(200, html), now: 0) else {
            Issue.record("no form was sent")
            return
        }
        #expect(place.span.text == target)
        #expect(content.bytes.withBytes { $0.text }.split(separator: "&").contains { $0.hasPrefix("\(name)=") })
    }

    @Test func `without a form it looks where forms go, and then sends the rule's fields alone`() {
        var login = login()
        _ = login.begin(at: Array("/api".utf8))
        #expect(text(login.received(page(401, "{}"), now: 0)) == "GET /login")
        #expect(text(login.received(page(405), now: 0)) == "POST /login \(Self.content)")
        var other = self.login()
        #expect(text(other.beginAtAction()) == "GET /login")
        #expect(text(other.received(page(200, Self.form), now: 0)) == "POST /login csrf=t%261&\(Self.content)&go=Go")
    }

    /// The results of the responses after the form.
    @Test(
        arguments: [
            ([(200, nil, ["s=1"])], "in s"), ([(302, "/", ["s=1"]), (404, nil, [])], "in s"),
            ([(302, "https://h/", ["s=1"])], "in s"), ([(302, "/x", ["s=1"]), (302, "//sso/", [])], "in s"),
            ([(302, "https://h/", [])], "its login leads to https://h, which is another protection space"),
            ([(307, "https://h/", ["s=1"])], "its login leads to https://h, which is another protection space"),
            ([(308, "/login/", []), (200, nil, ["s=1"])], "in s"),
            ([(307, "/login?again", []), (200, nil, ["s=1"])], "in s"),
            (
                [(307, "/evil/steal?x", ["s=1"])],
                "its login was answered with status 307, which sends the password on to /evil/steal, another path than "
                    + "the rule's"
            ),
            (
                [(308, "/login;/%2e%2e/evil", ["s=1"])],
                "its login was answered with status 308, which sends the password on to /login;/%2e%2e/evil, another path "
                    + "than the rule's"
            ),
            ([(200, nil, [])], "the server accepted the form, but set no cookie"), ([(401, nil, ["s=1"])], "refused"),
            ([(403, nil, [])], "refused"), ([(500, nil, ["s=1"])], "it was answered with status 500"),
            ([(404, nil, ["s=1"])], "it was answered with status 404"),
            ([(429, nil, [])], "it was answered with status 429"),
            ([(302, "mailto:x", [])], "its login redirects to a URL that is not allowed"),
            (Array(repeating: (302, "/x", ["s=1"]), count: 11), "its login redirects without end"),
        ] as [([(Int, String?, [String])], String)])
    func `the verdict is what follows the form`(responses: [(Int, String?, [String])], verdict: String) {
        var login = login()
        var step = login.begin(with: page(200, Self.form), at: Array("/login".utf8), now: 0)
        for (status, location, cookies) in responses {
            step = login.received(page(status, nil, location: location, cookies: cookies), now: 0)
        }
        #expect(text(step) == verdict)
    }

    @Test func `the page again behind the rule's own form is a refusal, whether the rule sees it or not`() {
        for again in [
            page(200, "x", isRecognised: true), page(200, Self.form), page(302, location: "/login", isRecognised: true),
            page(401), page(403), page(422),
        ] {
            var login = login()
            _ = login.begin(with: page(200, Self.form, cookies: ["s=1"]), at: Array("/login?next=/a".utf8), now: 0)
            #expect(text(login.received(again, now: 0)) == "refused")
        }
        var login = login()
        _ = login.begin(with: page(200, Self.form, cookies: ["s=1"]), at: Array("/login".utf8), now: 0)
        #expect(text(login.received(page(302, location: "/login?error"), now: 0)) == "GET /login?error")
        #expect(text(login.received(page(200, Self.form), now: 0)) == "refused")
    }

    /// A page that a user of the site may have written.
    private static let hostile =
        "<form action='/login;x=y' enctype=multipart/form-data><input name=user><input type=password name=pass></form>"

    @Test func `a failure behind another page's form is none before the rule's own has failed`() {
        var login = login()
        _ = login.begin(
            with: page(200, Self.hostile, cookies: ["csrf=shadow; Path=/"]), at: Array("/blog/1".utf8), now: 0)
        #expect(text(login.received(page(403), now: 0)) == "GET /login")
        #expect(login.jar.isEmpty, "the other page's cookies are gone")
        var refused = login
        let step = login.received(page(200, Self.form, cookies: ["s=0"]), now: 0)
        #expect(text(step) == "POST /login csrf=t%261&\(Self.content)&go=Go")
        #expect(text(login.received(page(303, location: "/", cookies: ["s=1"]), now: 0)) == "GET /")
        #expect(text(login.received(page(200, "welcome"), now: 0)) == "in s")
        _ = refused.received(page(200, Self.form), now: 0)
        #expect(text(refused.received(page(200, Self.form), now: 0)) == "refused")
    }

    @Test func `a cookie of another page is no part of the verdict either`() {
        var login = login()
        _ = login.begin(at: Array("/blog/1".utf8))
        #expect(text(login.received(page(302, location: "/login", cookies: ["csrf=shadow"]), now: 0)) == "GET /login")
        _ = login.received(page(200, Self.form), now: 0)
        #expect(text(login.received(page(403), now: 0)) == "GET /login")
    }

    @Test func `a form that the rule's page has too is not sent twice`() {
        var login = login()
        _ = login.begin(with: page(200, Self.form), at: Array("/app".utf8), now: 0)
        #expect(text(login.received(page(200, Self.form), now: 0)) == "GET /login")
        #expect(text(login.received(page(200, Self.form), now: 0)) == "refused")
    }

    @Test(arguments: [200, 404, 405])
    func `where no other page has a form the first verdict counts`(status: Int) {
        var login = login()
        _ = login.begin(with: page(200, Self.form), at: Array("/app".utf8), now: 0)
        #expect(text(login.received(page(200, Self.form), now: 0)) == "GET /login")
        #expect(text(login.received(page(status, "x"), now: 0)) == "refused")
    }

    @Test func `a page in another charset gets its answer in that`() {
        var login = login()
        let form = "<form accept-charset=iso-8859-1><input name=user><input name=pass type=password></form>"
        #expect(
            text(login.begin(with: page(200, form), at: [.slash], now: 0)) == "POST /login user=bob&pass=x-p%E4+ss%26")
    }

    @Test func `a rule's URL of another server gets no form`() {
        var login = login(LoginTemplate(action: "https://sso/login", fields: Self.template.fields))
        let step = login.begin(with: page(200, Self.form), at: [.slash], now: 0)
        #expect(text(step) == "its login leads to https://sso, which is another protection space")
    }

    @Test func `a form in parts is sent in parts`() {
        var login = login()
        let form =
            "<form action=/login enctype=Multipart/Form-Data><input name='a&quot;&#13;&#10;b' value=1><input name=user>"
            + "<input name=pass type=password></form>"
        guard case .post(_, let content, _) = login.begin(with: page(200, form), at: [.slash], now: 0) else {
            Issue.record("no form was sent")
            return
        }
        #expect(content.type == "multipart/form-data; boundary=b")
        let text = content.bytes.withBytes { $0.text }
        #expect(
            text.components(separatedBy: "\r\n") == [
                "--b", #"Content-Disposition: form-data; name="a%22%0D%0Ab""#, "", "1",
                "--b", #"Content-Disposition: form-data; name="user""#, "", "bob",
                "--b", #"Content-Disposition: form-data; name="pass""#, "", "x-pä ss&", "--b--", "",
            ])
    }

    private static let first = "<form action=/login?a><input name=c value=1><input name=user></form>"
    private static let second = "<form action=/login?b><input type=password name=pass></form>"

    @Test(arguments: [(303, "/login"), (200, nil)] as [(Int, String?)])
    func `a form that asks for the user alone gets no more, the one behind it the rest`(
        status: Int, location: String?
    ) {
        var login = login()
        let step = login.begin(with: page(200, Self.first, cookies: ["s=1"], isRecognised: true), at: [.slash], now: 0)
        #expect(text(step) == "POST /login?a c=1&user=bob")
        if location != nil {
            #expect(text(login.received(page(status, location: location), now: 0)) == "GET /login")
        }
        let behind = login.received(page(200, Self.second, isRecognised: true), now: 0)
        #expect(text(behind) == "POST /login?b pass=x-p%C3%A4+ss%26&user=bob")
        var refused = login
        #expect(text(refused.received(page(200, Self.second), now: 0)) == "GET /login")
        #expect(text(refused.received(page(404), now: 0)) == "refused")
        let changing = "<form><input type=password name=pass><input type=password name=new></form>"
        #expect(text(login.received(page(200, changing), now: 0)) == "in s")
    }

    @Test(arguments: [
        // It is sent elsewhere, asks for the password in its own way, or nothing that is the rule's.
        "<form action=/news><input name=user></form>",
        "<form action=/login><input name=user><input type=password name=x></form>",
        "<form action=/login><input name=user><input type=hidden name=pass></form>",
        "<form action=/login><input name=other></form>",
    ])
    func `any other form gets all at once`(html: String) {
        var login = login()
        var step = login.begin(with: page(200, html), at: [.slash], now: 0)
        if case .get = step { step = login.received(page(200, html), now: 0) }
        guard case .post(let place, let content, _) = step, place.span.text == "/login" else {
            Issue.record("no form was sent")
            return
        }
        let text = content.bytes.withBytes { $0.text }
        #expect(text.contains("user=bob") && text.contains("pass=x-"))
    }

    @Test func `a first page that has no second is sent all that there is`() {
        var login = login()
        _ = login.begin(with: page(200, Self.first), at: [.slash], now: 0)
        #expect(text(login.received(page(200, Self.first), now: 0)) == "POST /login?a c=1&\(Self.content)")
        for (status, verdict) in [(401, "refused"), (500, "it was answered with status 500")] {
            var login = self.login()
            _ = login.begin(with: page(200, Self.first), at: Array("/login".utf8), now: 0)
            #expect(text(login.received(page(status), now: 0)) == verdict)
        }
        var led = self.login()
        _ = led.begin(with: page(200, Self.first, cookies: ["s=1"]), at: [.slash], now: 0)
        #expect(
            text(led.received(page(302, location: "https://sso/"), now: 0))
                == "its login leads to https://sso, which is another protection space")
    }
}
