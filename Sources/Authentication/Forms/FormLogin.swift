import Bytes
import Crypto
import Model

/// One login by an HTML form: the page is found, its form filled in and sent, and what follows is judged. A machine
/// without I/O: its caller sends what each step says, with the cookies of the jar, and reports the response.
///
///     get ─▶ (redirects) ─▶ page with the form, else the rule's own page ─▶ post ─▶ (redirects) ─▶ loggedIn, or refused
///
/// A form that asks for the user alone is sent like that, and the one of the page behind it is then filled in.
///
/// A page that others may write can look like the login page, and have a form or cookies that no login succeeds with. So a
/// login that fails behind such is made once more, from an empty jar and the page where the rule says that forms are sent to,
/// and only that is the server's verdict.
public struct FormLogin: Sendable {
    /// The caller's next step.
    public enum Step: Sendable {
        case get(target: [UInt8])
        /// - Parameter page: the target of the page that the form is on.
        case post(target: [UInt8], content: FormContent, page: [UInt8])
        /// - Parameter landing: the target of a page that the login led to and that asks for none; nil without one.
        case loggedIn(CookieJar, landing: [UInt8]?)
        /// The server saw the credential and wants another.
        case refused
        case failed(FormLoginError)
    }

    private enum State: Sendable {
        /// Awaiting the page with the form; becomes `seekingAtAction`, `named` or `submitted`.
        case seeking(target: [UInt8])
        /// Awaiting what stands where forms are sent to, since no form was found elsewhere; becomes `named` or `submitted`.
        case seekingAtAction(target: [UInt8])
        /// A form with the user alone is out; becomes `seekingSecond`, `submitted` or `ended`.
        case named(target: [UInt8], content: FormContent)
        /// Awaiting the page that asks for the password; becomes `submitted`.
        case seekingSecond(target: [UInt8])
        /// The form is out; becomes `following` or `ended`.
        case submitted(target: [UInt8], content: FormContent)
        /// Awaiting where the server leads to behind the login; becomes `ended`.
        case following(target: [UInt8])
        case ended
    }

    /// A form as it was sent.
    private struct Submission: Sendable {
        let target: [UInt8]
        let content: FormContent
    }

    /// Of one login, over all its parts.
    private static let redirectLimit = 10

    private let template: LoginTemplate
    private let credential: Credential
    private let origin: Origin
    private let boundary: String?
    public private(set) var jar: CookieJar
    private var state = State.ended
    private var redirects = 0
    /// Whether cookies came, before the form was sent, with a page other than the one where the rule says that forms are sent to.
    private var hasForeignCookies = false
    /// Whether the form and all that goes with it came from there.
    private var isOfRule = false
    /// Of the first login, once it is made for the second time: the first form that was sent; nil where none was.
    private var former: Submission??
    /// The first form that was sent.
    private var submission: Submission?
    /// The form that was filled in last; nil where the rule's fields were sent alone.
    private var filled: HTMLForm?

    /// - Parameter boundary: of content in parts; a text that no page can know. Nil: none is sent in parts.
    public init(_ template: LoginTemplate, to origin: Origin, with credential: Credential, boundary: String?) {
        self.boundary = boundary
        self.template = template
        self.credential = credential
        self.origin = origin
        jar = CookieJar(origin: origin)
    }

    /// Begins by asking for a page.
    public mutating func begin(at target: [UInt8]) -> Step {
        if template.isJSON { return submitJSON() }
        state = .seeking(target: target)
        return .get(target: target)
    }

    /// Begins with a response that is there already, to a request without any cookies.
    public mutating func begin(with page: LoginPage, at target: [UInt8], now: Int) -> Step {
        if template.isJSON { return submitJSON() }
        state = .seeking(target: target)
        return received(page, now: now)
    }

    /// Begins where the rule says that forms are sent to.
    public mutating func beginAtAction() -> Step {
        if template.isJSON { return submitJSON() }
        guard case .here(let target)? = action(from: [.slash]) else { return submit(nil, at: [.slash]) }
        state = .seekingAtAction(target: target)
        return .get(target: target)
    }

    /// - Parameter now: milliseconds since 1970.
    public mutating func received(_ page: LoginPage, now: Int) -> Step {
        switch state {
        case .ended: return finish(.failed(.endless))
        case .seeking(let target):
            take(page, at: target, now: now)
            if page.isRedirect { return follow(page, from: target) { .seeking(target: $0) } }
            if let form = form(of: page) { return fill(form, at: target) }
            return beginAtAction()
        case .seekingAtAction(let target):
            take(page, at: target, now: now)
            if page.isRedirect { return follow(page, from: target) { .seekingAtAction(target: $0) } }
            guard let form = form(of: page) else {
                // There is no other page than the one that the first login was made with, and that one was refused.
                return isSecond ? finish(.refused) : submit(nil, at: target)
            }
            let step = fill(form, at: target)
            return isAgain(step) ? finish(.refused) : step
        case .named(let target, let content):
            take(page, at: target, now: now)
            if page.wantsJSON { return finish(.failed(.wantsJSON(status: page.status))) }
            if let ended = verdict(page.status) { return ended }
            guard page.isRedirect else { return submit(form(of: page), at: target) }
            if page.repeatsMethod {
                return follow(page, from: target, with: content) { .named(target: $0, content: content) }
            }
            return follow(page, from: target) { .seekingSecond(target: $0) }
        case .seekingSecond(let target):
            take(page, at: target, now: now)
            if page.isRedirect { return follow(page, from: target) { .seekingSecond(target: $0) } }
            return submit(form(of: page), at: target)
        case .submitted(let target, let content):
            take(page, at: target, now: now)
            return judge(page, at: target, content)
        case .following(let target):
            take(page, at: target, now: now)
            if isRefusal(page) { return refuse() }
            if page.isRedirect { return follow(page, from: target) { .following(target: $0) } }
            return succeed(landing: page.status < 400 ? target : nil)
        }
    }

    private mutating func take(_ page: LoginPage, at target: [UInt8], now: Int) {
        switch state {
        case .seeking, .seekingAtAction: if !page.cookies.isEmpty, !isRulePage(target) { hasForeignCookies = true }
        default: break
        }
        for cookie in page.cookies { jar.take(cookie.span, at: target.span, now: now) }
    }

    // MARK: - The form

    /// The form that is meant: the one that asks for most of the rule's fields; of equals the one that is sent where the
    /// rule says, then one with a password.
    private func form(of page: LoginPage) -> HTMLForm? {
        guard let content = page.content else { return nil }
        var best: (form: HTMLForm, rank: Int)?
        for form in HTMLFormReader.forms(in: content, contentType: page.contentType) {
            let fields = template.fields.count { form.asks(for: $0.name) }
            guard fields > 0 || !form.passwordNames.isEmpty else { continue }
            let isMeant = form.action.map { isAtAction($0) } ?? false
            let rank = fields * 4 + (isMeant ? 2 : 0) + (form.passwordNames.isEmpty ? 0 : 1)
            if rank > best?.rank ?? -1 { best = (form, rank) }
        }
        return best?.form
    }

    /// Whether the target is where the rule says that forms are sent to.
    private func isRulePage(_ target: [UInt8]) -> Bool {
        guard case .here(let action)? = action(from: target) else { return false }
        return LoginReference.path(of: target) == LoginReference.path(of: action)
    }

    private func isAtAction(_ reference: String, from base: [UInt8] = [.slash]) -> Bool {
        guard case .here(let target)? = LoginReference(reference.utf8, from: base, on: origin),
            case .here(let action)? = action(from: base)
        else { return false }
        return LoginReference.target(target, isAt: LoginReference.path(of: action))
    }

    /// Whether the server may have the form, and the password in it, sent on there: to the rule's path, or with a slash
    /// behind it.
    private func isForForm(_ target: [UInt8], from base: [UInt8]) -> Bool {
        guard case .here(let action)? = action(from: base) else { return false }
        let path = LoginReference.path(of: action)
        return LoginReference.target(target, isAt: path) || LoginReference.path(of: target) == path + [.slash]
    }

    private func action(from target: [UInt8]) -> LoginReference? {
        LoginReference(template.action.utf8, from: target, on: origin)
    }

    private mutating func fill(_ form: HTMLForm, at target: [UInt8]) -> Step {
        isOfRule = isRulePage(target) && !hasForeignCookies
        let step = fillFirst(form, at: target)
        if case .post(let place, let content, _) = step { submission = Submission(target: place, content: content) }
        return step
    }

    private mutating func fillFirst(_ form: HTMLForm, at target: [UInt8]) -> Step {
        guard asksForUserAlone(form, at: target), case .post(let place, _, _) = submit(form, at: target) else {
            return submit(form, at: target)
        }
        let content = content(of: form, with: template.fields.filter { form.asks(for: $0.name) })
        state = .named(target: place, content: content)
        return .post(target: place, content: content, page: target)
    }

    /// Whether it is the first of two: sent where the rule says, with the user but without the password.
    private func asksForUserAlone(_ form: HTMLForm, at target: [UInt8]) -> Bool {
        guard let password = template.passwordName, isAtAction(form.action ?? "", from: target) else { return false }
        return form.passwordNames.isEmpty && !form.asks(for: password)
            && template.fields.contains { $0.value.contains(.user) && form.asks(for: $0.name) }
    }

    /// Sends the form where the rule says; with the query, or the parameter, that the page has for that very path.
    private mutating func submit(_ form: HTMLForm?, at target: [UInt8]) -> Step {
        guard let action = action(from: target) else { return finish(.failed(.unusableReference)) }
        guard case .here(var place) = action else {
            if case .elsewhere(let place) = action { return finish(.failed(.elsewhere(place))) }
            return finish(.failed(.unusableReference))
        }
        if let form, case .here(let said)? = LoginReference((form.action ?? "").utf8, from: target, on: origin),
            LoginReference.target(said, isAt: LoginReference.path(of: place))
        {
            place = said
        }
        filled = form
        let content = content(of: form, with: template.fields)
        state = .submitted(target: place, content: content)
        return .post(target: place, content: content, page: target)
    }

    /// Sends the rule's fields as JSON (RFC 8259), for which no page is needed, and no cookie of one.
    private mutating func submitJSON() -> Step {
        jar = CookieJar(origin: origin)
        isOfRule = true
        return submit(nil, at: [.slash])
    }

    /// The page's entries, with the rule's values in their place, and the rule's other fields behind them.
    private func content(of form: HTMLForm?, with fields: [LoginTemplate.Field]) -> FormContent {
        var encoding = FormEncoding(
            charset: form?.charset ?? .utf8, boundary: form?.isMultipart == true ? boundary : nil,
            isJSON: template.isJSON)
        var given: Set<String> = []
        for entry in form?.entries ?? [] {
            if let field = fields.first(where: { $0.name == entry.name }) {
                if given.insert(field.name).inserted { append(field, to: &encoding) }
            } else {
                encoding.beginField(entry.name)
                encoding.append(entry.value)
            }
        }
        for field in fields where given.insert(field.name).inserted { append(field, to: &encoding) }
        return encoding.end()
    }

    private func append(_ field: LoginTemplate.Field, to encoding: inout FormEncoding) {
        encoding.beginField(field.name)
        for part in field.value {
            switch part {
            case .text(let text): encoding.append(text)
            case .user: encoding.append(credential.user ?? "")
            case .password: if let password = credential.password { encoding.append(password) }
            }
        }
    }

    // MARK: - The verdict

    private var isSecond: Bool { former != nil }

    /// Whether a step of the second login only repeats what the server has refused in the first.
    private func isAgain(_ step: Step) -> Bool {
        guard case .post(let target, let content, _) = step, let former = former ?? nil else { return false }
        return former.target == target && former.content == content
    }

    private mutating func judge(_ page: LoginPage, at target: [UInt8], _ content: FormContent) -> Step {
        if isRefusal(page) { return refuse() }
        if !template.isJSON, page.wantsJSON { return finish(.failed(.wantsJSON(status: page.status))) }
        if template.isJSON, page.status == 422 { return finish(.failed(.fieldsNotTaken)) }
        if let ended = verdict(page.status) { return ended }
        guard page.isRedirect else { return succeed() }
        if page.repeatsMethod {
            return follow(page, from: target, with: content) { .submitted(target: $0, content: content) }
        }
        return follow(page, from: target) { .following(target: $0) }
    }

    /// Nil for a status that ends nothing.
    private mutating func verdict(_ status: Int) -> Step? {
        switch status {
        // Whatever these mean elsewhere, the credential was looked at, and an account's lock may have counted it.
        case 401, 403, 422: refuse()
        case 400...: finish(.failed(.status(status)))
        default: nil
        }
    }

    /// The login failed, be it for the credential's sake or for that of the page that it was begun with.
    private mutating func refuse() -> Step {
        if isOfRule || isSecond { return finish(.refused) }
        former = .some(hasForeignCookies ? nil : submission)
        jar = CookieJar(origin: origin)
        redirects = 0
        return beginAtAction()
    }

    /// Whether it asks for the credential again.
    private func isRefusal(_ page: LoginPage) -> Bool {
        if page.isRecognised { return true }
        guard let name = template.passwordName, let content = page.content else { return false }
        return HTMLFormReader.forms(in: content, contentType: page.contentType).contains { form in
            form.passwordNames.contains(name) && asksAgain(form)
        }
    }

    /// Whether it asks for as much as the form that was filled in.
    private func asksAgain(_ form: HTMLForm) -> Bool {
        guard let filled else { return template.fields.allSatisfy { form.asks(for: $0.name) } }
        return form.passwordNames == filled.passwordNames
            && template.fields.allSatisfy { !filled.asks(for: $0.name) || form.asks(for: $0.name) }
    }

    /// - Parameter content: the form's content; nil asks for a page.
    private mutating func follow(
        _ page: LoginPage, from base: [UInt8], with content: FormContent? = nil, as next: ([UInt8]) -> State
    ) -> Step {
        redirects += 1
        guard redirects <= Self.redirectLimit else { return finish(.failed(.endless)) }
        switch LoginReference(page.location ?? [], from: base, on: origin) {
        case .here(let target)?:
            if content != nil, !isForForm(target, from: base) {
                return finish(.failed(.sentOn(page.status, to: LoginReference.shownPath(of: target))))
            }
            state = next(target)
            return content.map { .post(target: target, content: $0, page: base) } ?? .get(target: target)
        case .elsewhere(let place)?:
            // Behind the login nobody has to go there: the cookies are set, and the credential stays here.
            if content == nil, case .submitted = state, !jar.isEmpty { return succeed() }
            if case .following = state, !jar.isEmpty { return succeed() }
            return finish(.failed(.elsewhere(place)))
        case nil: return finish(.failed(.unusableReference))
        }
    }

    private mutating func succeed(landing: [UInt8]? = nil) -> Step {
        finish(jar.isEmpty ? .failed(.noCookie) : .loggedIn(jar, landing: landing))
    }

    private mutating func finish(_ step: Step) -> Step {
        state = .ended
        return step
    }
}

/// Why a login came to no verdict. The sentences name no secret, and go on behind "credential NAME is not logged in: ".
public enum FormLoginError: Error, Sendable, Equatable, CustomStringConvertible {
    /// It leads to another scheme, host or port: the credential is not for that protection space.
    case elsewhere(String)
    case endless
    /// The server wants the form sent on, by such a status, to a path that the rule does not name.
    case sentOn(Int, to: String)
    /// The form was sent, and the server answered with this status.
    case status(Int)
    /// The server has not read the form, as its status or its page says, and so not looked at the credential.
    case wantsJSON(status: Int)
    /// The server has read the JSON, and finds other members missing or wrong.
    case fieldsNotTaken
    /// The server asks for the form itself in a way that has no address.
    case unusableReference
    /// The login was taken, but there is nothing to know it by.
    case noCookie
    /// No connection, no trust, or no answer in time; the sentence says which.
    case unreachable(String)

    public var description: String {
        switch self {
        case .elsewhere(let place): "its login leads to \(place), which is another protection space"
        case .endless: "its login redirects without end"
        case .sentOn(let status, let path):
            "its login was answered with status \(status), which sends the password on to \(path), another path than the rule's"
        case .status(let status): "it was answered with status \(status)"
        case .wantsJSON(let status):
            "this login wants JSON, as its status \(status) says: write 'fields json { … }' into the rule's form"
        case .fieldsNotTaken:
            "it was answered with status 422: the login takes JSON, but other members than those of 'fields json'"
        case .unusableReference: "its login redirects to a URL that is not allowed"
        case .noCookie: "the server accepted the form, but set no cookie"
        case .unreachable(let sentence): sentence
        }
    }
}

extension LoginTemplate {
    /// The field that is given the password alone, or at all.
    var passwordName: String? {
        (fields.first { $0.value == [.password] } ?? fields.first { $0.value.contains(.password) })?.name
    }
}
