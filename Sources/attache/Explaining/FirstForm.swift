import Authentication
import Forwarding
import Model
import Rules

/// The login form of a site, as its pages show it.
struct FirstForm {
    /// How the login page is recognised, in the rule file's words.
    let sign: String
    /// The path that the form is sent to.
    let action: String
    /// The path of the page with the form.
    let page: String
    /// The name of the field for the user; nil if the form asks for a password only.
    let user: String?
    /// The name of the field for the password; nil if a later page asks for it.
    let password: String?

    private static let redirectLimit = 5

    /// Looks for a login page in a response, and behind its redirects on the same server.
    ///
    /// - Parameter fetch: fetches the page of a target of that server.
    /// - Returns: nil if there is no login form.
    /// - Throws: if the page is on another server, or its form cannot be used.
    static func find(
        in response: ChallengeProbe.Response, to request: ExplainedRequest,
        fetch: (String) throws(CommandError) -> ChallengeProbe.Response
    ) throws(CommandError) -> FirstForm? {
        let origin = request.origin
        var (response, target) = (response, request.target)
        var sign: String?
        for _ in 0..<redirectLimit {
            guard (300..<400).contains(response.status), let location = response.location else { break }
            switch LoginReference(location.utf8, from: Array(target.utf8), on: origin) {
            case .here(let next)?:
                target = String(decoding: next, as: UTF8.self)
                sign = sign ?? "status \(response.status) location \(RuleWord.quoted("\(path(of: target))*"))"
            case .elsewhere(let place)?:
                throw .failed(
                    "the server sends browsers to \(Console.printable(place)) to log in, and 'init' cannot log in at "
                        + "another server; if programs can use a token, see 'attache help tokens'")
            case nil: return nil
            }
            response = try fetch(target)
        }
        guard let page = response.page else { return nil }
        let forms = HTMLFormReader.forms(in: page, contentType: response.contentType)
        let isWhole = { (form: HTMLFormReader.Form) in !form.passwordNames.isEmpty }
        let asksForUser = { (form: HTMLFormReader.Form) in
            form.saysUserName || sign != nil && Self.isOfLogin([Self.path(of: target), form.userName ?? ""])
        }
        guard let form = forms.first(where: isWhole) ?? forms.first(where: { $0.userName != nil && asksForUser($0) }),
            let name = form.passwordNames.first ?? form.userName
        else { return nil }
        guard let text = sign ?? Self.sign(of: name, in: page, status: response.status) else {
            throw .failed("the login page at \(target) has nothing to recognise it by: see 'attache help forms'")
        }
        var action = path(of: target)
        if let said = form.action {
            guard case .here(let place)? = LoginReference(said.utf8, from: Array(target.utf8), on: origin) else {
                throw .failed("the login form at \(target) is sent to another server: \(Console.printable(said))")
            }
            action = path(of: String(decoding: place, as: UTF8.self))
        }
        return FirstForm(
            sign: text, action: action, page: path(of: target), user: form.userName,
            password: form.passwordNames.first)
    }

    /// Whether the path of a page or the name of its field says that it is for a login.
    private static func isOfLogin(_ texts: [String]) -> Bool {
        let words = ["login", "logon", "signin", "sign-in", "sign_in", "auth", "sso", "user", "mail", "account"]
        return texts.contains { text in words.contains { text.lowercased().contains($0) } }
    }

    /// The block `form` without its braces.
    var words: String {
        let fields = (user.map { [Self.field($0, "user")] } ?? []) + [Self.field(password ?? "PASSWORD", "password")]
        return "recognise \(sign); login \(RuleWord.quoted(action)); fields \(fields.joined(separator: " "))"
    }

    /// The proposal, for a person.
    var sentence: String {
        let fields = [
            user.map { "'\(Console.printable($0))' for the user" },
            password.map { "'\(Console.printable($0))' for the password" },
        ]
        return "the login page \(Console.printable(page)) has a form with the fields "
            + "\(fields.compactMap(\.self).joined(separator: " and ")), which is sent to \(Console.printable(action))"
    }

    private static func field(_ name: String, _ word: String) -> String {
        // Braces are the template's own.
        let escaped = name.replacing("{", with: "{{").replacing("}", with: "}}")
        let isPlain = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") }
        let text = "\(escaped)={\(word)}"
        return isPlain ? text : "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }

    /// The field in the page's source.
    private static func sign(of field: String, in page: [UInt8], status: Int) -> String? {
        let spellings = ["name=\"\(field)\"", "name='\(field)'", "name=\(field)"]
        let found = spellings.first { page.firstRange(of: Array($0.utf8)) != nil }
        return found.map { "status \(status) contains \(RuleWord.quoted($0))" }
    }

    private static func path(of target: String) -> String { String(target.prefix { $0 != "?" && $0 != ";" }) }
}
