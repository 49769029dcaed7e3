import Bytes
import Crypto
import Model

/// One login by an HTML form: it finds the page, fills in and sends its form, and judges the response. A machine
/// without I/O: the caller sends the request of each step, with the cookies of the jar, and reports the response.
///
///     get ─▶ (redirects) ─▶ page with the form, else the rule's own page ─▶ post ─▶ (redirects) ─▶ loggedIn, or refused
///
/// A form that asks for the user only is sent first. Then the form of the next page is filled in.
///
/// A page that other users can write may look like the login page, with a form or cookies that never log in. So a login
/// that fails after such a page is repeated once, with an empty jar and the page at the rule's `action`. Only that
/// result is the server's verdict.
public struct FormLogin: Sendable {
    /// The caller's next step.
    public enum Step: Sendable {
        case get(target: [UInt8])
        /// - Parameter page: the target of the page that contains the form.
        case post(target: [UInt8], content: FormContent, page: [UInt8])
        /// - Parameter landing: the target of the page after the login that asks for no login; nil without one.
        case loggedIn(CookieJar, landing: [UInt8]?)
        /// The server checked the credential and refused it.
        case refused
        case failed(Failure)
    }

    private enum State: Sendable {
        /// Awaits the page with the form; becomes `seekingAtAction`, `named` or `submitted`.
        case seeking(target: [UInt8])
        /// Awaits the page at the rule's `action`, since no form was found elsewhere; becomes `named` or `submitted`.
        case seekingAtAction(target: [UInt8])
        /// A form with the user only was sent; becomes `seekingSecond`, `submitted` or `ended`.
        case named(target: [UInt8], content: FormContent)
        /// Awaits the page that asks for the password; becomes `submitted`.
        case seekingSecond(target: [UInt8])
        /// The form was sent; becomes `following` or `ended`.
        case submitted(target: [UInt8], content: FormContent)
        /// Awaits the page to which the server redirects after the login; becomes `ended`.
        case following(target: [UInt8])
        case ended
    }

    /// A form that was sent.
    private struct Submission: Sendable {
        let target: [UInt8]
        let content: FormContent
    }

    /// The limit of redirects of one login, over all its parts.
    private static let redirectLimit = 10

    private let template: LoginTemplate
    private let credential: Credential
    private let origin: Origin
    private let boundary: String?
    public private(set) var jar: CookieJar
    private var state = State.ended
    private var redirects = 0
    /// Whether cookies arrived before the form was sent, from a page other than that at the rule's `action`.
    private var hasForeignCookies = false
    /// Whether the form and all its values came from the page at the rule's `action`.
    private var isOfRule = false
    /// The first form of the first login, while the second login runs; the inner nil: no form was sent.
    private var former: Submission??
    /// The first form of this login that was sent.
    private var submission: Submission?
    /// The form that was filled in last; nil if only the rule's fields were sent.
    private var filled: HTMLFormReader.Form?

    /// - Parameter boundary: the boundary of multipart content, a text that no page can know; nil: content is never
    ///   multipart.
    public init(_ template: LoginTemplate, to origin: Origin, with credential: Credential, boundary: String?) {
        self.boundary = boundary
        self.template = template
        self.credential = credential
        self.origin = origin
        jar = CookieJar(origin: origin)
    }

    /// Begins by requesting a page.
    public mutating func begin(at target: [UInt8]) -> Step {
        if template.isJSON { return submitJSON() }
        state = .seeking(target: target)
        return .get(target: target)
    }

    /// Begins with a response that has already arrived, to a request without cookies.
    public mutating func begin(with page: LoginPage, at target: [UInt8], now: WallTime) -> Step {
        if template.isJSON { return submitJSON() }
        state = .seeking(target: target)
        return received(page, now: now)
    }

    /// Begins at the rule's `action`.
    public mutating func beginAtAction() -> Step {
        if template.isJSON { return submitJSON() }
        guard case .here(let target)? = action(from: [.slash]) else { return submit(nil, at: [.slash]) }
        state = .seekingAtAction(target: target)
        return .get(target: target)
    }

    public mutating func received(_ page: LoginPage, now: WallTime) -> Step {
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
                // The first login was made with this page too, and it was refused.
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

    private mutating func take(_ page: LoginPage, at target: [UInt8], now: WallTime) {
        switch state {
        case .seeking, .seekingAtAction: if !page.cookies.isEmpty, !isRulePage(target) { hasForeignCookies = true }
        default: break
        }
        for cookie in page.cookies { jar.take(cookie.span, at: target.span, now: now) }
    }

    // MARK: - The form

    /// The login form: the one that asks for most of the rule's fields. Of several, the one that is sent to the rule's
    /// `action`, then one with a password.
    private func form(of page: LoginPage) -> HTMLFormReader.Form? {
        guard let content = page.content else { return nil }
        var best: (form: HTMLFormReader.Form, rank: Int)?
        for form in HTMLFormReader.forms(in: content, contentType: page.contentType) {
            let fields = template.fields.count { form.asks(for: $0.name) }
            guard fields > 0 || !form.passwordNames.isEmpty else { continue }
            let isMeant = form.action.map { isAtAction($0) } ?? false
            let rank = fields * 4 + (isMeant ? 2 : 0) + (form.passwordNames.isEmpty ? 0 : 1)
            if rank > best?.rank ?? -1 { best = (form, rank) }
        }
        return best?.form
    }

    /// Whether the target is the rule's `action`.
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

    /// Whether the server may have the form with its password sent to that target: the rule's path, or that path with a
    /// slash appended.
    private func isForForm(_ target: [UInt8], from base: [UInt8]) -> Bool {
        guard case .here(let action)? = action(from: base) else { return false }
        let path = LoginReference.path(of: action)
        return LoginReference.target(target, isAt: path) || LoginReference.path(of: target) == path + [.slash]
    }

    private func action(from target: [UInt8]) -> LoginReference? {
        LoginReference(template.action.utf8, from: target, on: origin)
    }

    private mutating func fill(_ form: HTMLFormReader.Form, at target: [UInt8]) -> Step {
        isOfRule = isRulePage(target) && !hasForeignCookies
        let step = fillFirst(form, at: target)
        if case .post(let place, let content, _) = step { submission = Submission(target: place, content: content) }
        return step
    }

    private mutating func fillFirst(_ form: HTMLFormReader.Form, at target: [UInt8]) -> Step {
        guard asksForUserAlone(form, at: target), case .post(let place, _, _) = submit(form, at: target) else {
            return submit(form, at: target)
        }
        let content = content(of: form, with: template.fields.filter { form.asks(for: $0.name) })
        state = .named(target: place, content: content)
        return .post(target: place, content: content, page: target)
    }

    /// Whether it is the first of two forms: sent to the rule's `action`, with the user but without the password.
    private func asksForUserAlone(_ form: HTMLFormReader.Form, at target: [UInt8]) -> Bool {
        guard let password = template.passwordName, isAtAction(form.action ?? "", from: target) else { return false }
        return form.passwordNames.isEmpty && !form.asks(for: password)
            && template.fields.contains { $0.value.contains(.user) && form.asks(for: $0.name) }
    }

    /// Sends the form to the rule's `action`, with the query or path parameter that the page has for that path.
    private mutating func submit(_ form: HTMLFormReader.Form?, at target: [UInt8]) -> Step {
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

    /// Sends the rule's fields as JSON (RFC 8259). That needs no page and no cookies.
    private mutating func submitJSON() -> Step {
        jar = CookieJar(origin: origin)
        isOfRule = true
        return submit(nil, at: [.slash])
    }

    /// The page's entries with the rule's values, then the rule's other fields.
    private func content(of form: HTMLFormReader.Form?, with fields: [LoginTemplate.Field]) -> FormContent {
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

    /// Whether a step of the second login repeats what the server refused in the first.
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

    /// The verdict of a status; nil if the status decides nothing.
    private mutating func verdict(_ status: Int) -> Step? {
        switch status {
        // With these statuses the server has checked the credential, and a lock on the account may have counted it.
        case 401, 403, 422: refuse()
        case 400...: finish(.failed(.status(status)))
        default: nil
        }
    }

    /// Handles a failed login. The credential may be wrong, or the page that the login began with.
    private mutating func refuse() -> Step {
        if isOfRule || isSecond { return finish(.refused) }
        former = .some(hasForeignCookies ? nil : submission)
        jar = CookieJar(origin: origin)
        redirects = 0
        return beginAtAction()
    }

    /// Whether the page asks for the credential again.
    private func isRefusal(_ page: LoginPage) -> Bool {
        if page.isRecognised { return true }
        guard let name = template.passwordName, let content = page.content else { return false }
        return HTMLFormReader.forms(in: content, contentType: page.contentType).contains { form in
            form.passwordNames.contains(name) && asksAgain(form)
        }
    }

    /// Whether the form asks for as much as the one that was filled in.
    private func asksAgain(_ form: HTMLFormReader.Form) -> Bool {
        guard let filled else { return template.fields.allSatisfy { form.asks(for: $0.name) } }
        return form.passwordNames == filled.passwordNames
            && template.fields.allSatisfy { !filled.asks(for: $0.name) || form.asks(for: $0.name) }
    }

    /// - Parameter content: the form's content; nil: request a page.
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
            // After the login no request to that place is needed: the cookies are set, and the credential stays here.
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

    /// The reason why a login came to no verdict. The sentences contain no secret, and follow "credential NAME is not
    /// logged in: ".
    public enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// The login leads to another scheme, host or port. The credential is not for that protection space.
        case elsewhere(String)
        case endless
        /// The server redirects the form, with this status, to a path that the rule does not name.
        case sentOn(Int, to: String)
        /// The server answered the form with this status.
        case status(Int)
        /// The server could not read the form, by its status or its page, and so did not check the credential.
        case wantsJSON(status: Int)
        /// The server read the JSON, and reports missing or wrong members.
        case fieldsNotTaken
        /// A reference of the page or response is not a usable address.
        case unusableReference
        /// The login succeeded, but the server set no cookie.
        case noCookie
        /// No connection, no trust, or no response in time; the sentence says which.
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
}

extension LoginTemplate {
    /// The name of the field with the password alone, else of one that contains the password.
    var passwordName: String? {
        (fields.first { $0.value == [.password] } ?? fields.first { $0.value.contains(.password) })?.name
    }
}
