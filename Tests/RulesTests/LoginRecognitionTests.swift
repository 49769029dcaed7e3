import Model
import Testing

@testable import Rules

@Suite struct LoginRecognitionTests {
    private func form(_ signs: Configuration.LoginForm.Sign...) -> Configuration.LoginForm {
        Configuration.LoginForm(signs: signs, login: LoginTemplate(action: "/login", fields: []))
    }

    private func recognise(_ form: Configuration.LoginForm, _ status: Int, _ location: String? = nil)
        -> Configuration.LoginForm.Recognition
    {
        guard let location else { return form.recognise(status: status, locations: []) }
        let path = location.replacing("http://h", with: "")
        return form.recognise(status: status, locations: [location, path].map { Array($0.utf8) })
    }

    @Test func `a sign is all that it says`() {
        let redirect = form(.init(status: 302, location: TextPattern("/login*"), text: nil))
        #expect(recognise(redirect, 302, "/login?next=/") == .recognised)
        #expect(recognise(redirect, 302, "http://h/login") == .recognised)
        #expect(recognise(redirect, 303, "/login") == .other)
        #expect(recognise(redirect, 302, "/") == .other)
        #expect(recognise(redirect, 302) == .other)
        let page = form(
            .init(status: 200, location: nil, text: "Sign in"), .init(status: 401, location: nil, text: nil))
        #expect(recognise(page, 200) == .dependsOnText)
        #expect(recognise(page, 401) == .recognised)
        #expect(recognise(page, 404) == .other)
    }

    @Test(arguments: [
        ("please Sign in", 0, true), ("sign in", 0, false), ("Sign in", 6, true), ("Sign in", 8, false),
        ("Sign i", 0, false),
        ("SSign in", 0, true), ("", 0, false),
    ])
    func `a text is found wherever it ends behind what was read`(page: String, start: Int, isFound: Bool) {
        let form = form(.init(status: nil, location: nil, text: "Sign in"))
        let found = form.holds(page.utf8Span.span, from: start, status: 200, locations: [])
        #expect(found == isFound)
    }
}
