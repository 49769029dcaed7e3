import Bytes

/// Reads the forms of a page, tolerantly, as a browser would, in one pass over any bytes that a server sends. Parts
/// beyond the limits are left out.
public struct HTMLFormReader {
    /// A control that may be sent, and the form that it belongs to.
    private struct Control {
        let form: Int
        let entry: HTMLFormReader.Form.Entry
        /// Whether it is a button. A button's entry is sent only if the button was pressed.
        var isButton = false
    }

    /// A `select` that is being read.
    private struct Selection {
        let form: Int
        let name: String
        let isMultiple: Bool
        var first: String?
        var chosen: [String] = []
    }

    /// An `option` that is being read. Its value may be its text.
    private struct Option {
        var value: String?
        let isSelected: Bool
        let isDisabled: Bool
        var text = ""
    }

    private var tokenizer: HTMLTokenizer
    private var charset: HTMLCharset?
    private var base: String?
    private var forms: [HTMLFormReader.Form] = []
    private var formIDs: [String?] = []
    private var controls: [Control] = []
    /// The form whose start tag was read, but not its end tag.
    private var open: Int?
    private var selection: Selection?
    private var option: Option?
    /// The name and the form of the `textarea` that is being read.
    private var area: (form: Int, name: String)?
    private var buttons: Set<Int> = []

    private static let formLimit = 32
    private static let controlLimit = 512

    /// - Parameters:
    ///   - page: the document, decoded from its content coding.
    ///   - contentType: the value of `Content-Type`; its `charset` takes precedence over the page's.
    /// - Returns: the forms in the order of the page.
    public static func forms(in page: [UInt8], contentType: String? = nil) -> [HTMLFormReader.Form] {
        var reader = HTMLFormReader(page, charset: contentType.flatMap { HTMLCharset(mediaType: $0) })
        return reader.read()
    }

    private init(_ page: [UInt8], charset: HTMLCharset?) {
        tokenizer = HTMLTokenizer(page)
        self.charset = charset
    }

    private mutating func read() -> [HTMLFormReader.Form] {
        while let token = tokenizer.next() {
            switch token {
            case .start(let tag): start(tag)
            case .end(let name): end(name)
            case .text(let range): text(range)
            }
        }
        endSelection()
        for control in controls where !control.isButton { forms[control.form].entries.append(control.entry) }
        for control in controls where control.isButton && !control.entry.name.isEmpty {
            forms[control.form].entries.append(control.entry)
        }
        guard let base else { return forms }
        // The caller resolves the result against the page's address.
        for index in forms.indices {
            forms[index].action = forms[index].action.map { LoginReference.join($0, to: base) }
        }
        return forms
    }

    // MARK: - Tags

    private mutating func start(_ tag: HTMLTokenizer.Tag) {
        switch tag.name {
        case "base": if base == nil { base = value("href", of: tag).map(Self.trimmed) }
        case "meta": meta(tag)
        case "form": form(tag)
        case "input": input(tag)
        case "button": button(tag)
        case "select": select(tag)
        case "option": beginOption(tag)
        case "textarea":
            if let form = owner(of: tag), !isDisabled(tag), let name = value("name", of: tag), !name.isEmpty {
                area = (form, name)
                // An empty textarea has no text that follows.
                add(Control(form: form, entry: .init(name: name, value: "")))
            }
        default: break
        }
    }

    private mutating func end(_ name: String) {
        switch name {
        case "form": open = nil
        case "select": endSelection()
        case "option": endOption()
        case "textarea": area = nil
        default: break
        }
    }

    private mutating func text(_ range: Range<Int>) {
        if option != nil {
            let text = resolved(range, isAttribute: false)
            option?.text += text
        } else if let (form, name) = area {
            area = nil
            var value = resolved(range, isAttribute: false)
            // A line end directly after the tag is markup.
            if value.first == "\n" || value.first == "\r\n" { value.removeFirst() }
            guard controls.last?.form == form, controls.last?.entry.name == name else { return }
            controls.removeLast()
            add(Control(form: form, entry: .init(name: name, value: Self.withLineEnds(value))))
        }
    }

    private mutating func meta(_ tag: HTMLTokenizer.Tag) {
        guard charset == nil else { return }
        charset =
            value("charset", of: tag).flatMap { HTMLCharset(label: $0) }
            ?? value("content", of: tag).flatMap { HTMLCharset(mediaType: $0) }
    }

    private mutating func form(_ tag: HTMLTokenizer.Tag) {
        // A form inside a form is ignored.
        guard open == nil, forms.count < Self.formLimit else { return }
        var form = HTMLFormReader.Form()
        form.action = value("action", of: tag).map(Self.trimmed).flatMap { $0.isEmpty ? nil : $0 }
        let accepted = value("accept-charset", of: tag)?.split(whereSeparator: \.isWhitespace).first
        form.isMultipart = value("enctype", of: tag)?.lowercased() == "multipart/form-data"
        form.charset = accepted.flatMap { HTMLCharset(label: String($0)) } ?? charset ?? .utf8
        forms.append(form)
        formIDs.append(value("id", of: tag))
        open = forms.count - 1
    }

    private mutating func input(_ tag: HTMLTokenizer.Tag) {
        guard let form = owner(of: tag), !isDisabled(tag) else { return }
        let name = value("name", of: tag) ?? ""
        let type = value("type", of: tag)?.lowercased() ?? "text"
        let content = value("value", of: tag)
        switch type {
        case "submit": addButton(name, content ?? "", to: form)
        case "image": addButton("", "", to: form)
        case "button", "reset", "file": break
        case "checkbox", "radio":
            if tag["checked"] != nil { add(Control(form: form, entry: .init(name: name, value: content ?? "on"))) }
        case "hidden" where name == "_charset_":
            add(Control(form: form, entry: .init(name: name, value: forms[form].charset.name)))
        default:
            if type == "password" {
                if forms[form].passwordNames.count < 8 { forms[form].passwordNames.append(name) }
            } else if type != "hidden", !name.isEmpty {
                noteUser(tag, name, type, in: form)
            }
            add(Control(form: form, entry: .init(name: name, value: Self.withLineEnds(content ?? ""))))
        }
    }

    /// The field for the user: one that says so by `autocomplete` (WHATWG HTML section 4.10.18.7.1), else the last text
    /// field before the password.
    private mutating func noteUser(_ tag: HTMLTokenizer.Tag, _ name: String, _ type: String, in form: Int) {
        let purposes = value("autocomplete", of: tag)?.lowercased().split(whereSeparator: \.isWhitespace) ?? []
        if purposes.contains("username") {
            forms[form].userName = name
            forms[form].saysUserName = true
        } else if !forms[form].saysUserName, forms[form].passwordNames.isEmpty,
            !["number", "date", "range", "color", "search", "time", "month", "week", "datetime-local"].contains(type)
        {
            forms[form].userName = name
        }
    }

    private mutating func button(_ tag: HTMLTokenizer.Tag) {
        guard let form = owner(of: tag), !isDisabled(tag) else { return }
        let type = value("type", of: tag)?.lowercased()
        guard type != "button", type != "reset" else { return }
        addButton(value("name", of: tag) ?? "", value("value", of: tag) ?? "", to: form)
    }

    /// Adds the first button of a form, which Enter presses.
    private mutating func addButton(_ name: String, _ value: String, to form: Int) {
        guard buttons.insert(form).inserted else { return }
        add(Control(form: form, entry: .init(name: name, value: value), isButton: true))
    }

    // MARK: - Choices

    private mutating func select(_ tag: HTMLTokenizer.Tag) {
        endSelection()
        guard let form = owner(of: tag), !isDisabled(tag) else { return }
        selection = Selection(form: form, name: value("name", of: tag) ?? "", isMultiple: tag["multiple"] != nil)
    }

    private mutating func beginOption(_ tag: HTMLTokenizer.Tag) {
        endOption()
        guard selection != nil else { return }
        option = Option(
            value: value("value", of: tag), isSelected: tag["selected"] != nil, isDisabled: isDisabled(tag))
    }

    private mutating func endOption() {
        guard let ended = option else { return }
        option = nil
        guard !ended.isDisabled else { return }
        let value = ended.value ?? ended.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        if selection?.first == nil { selection?.first = value }
        if ended.isSelected, selection?.chosen.count ?? 0 < Self.controlLimit { selection?.chosen.append(value) }
    }

    private mutating func endSelection() {
        endOption()
        guard let ended = selection else { return }
        selection = nil
        // Of a list with a single choice the last selected option counts, else the first option.
        let values = ended.isMultiple ? ended.chosen : [ended.chosen.last ?? ended.first].compactMap { $0 }
        for value in values { add(Control(form: ended.form, entry: .init(name: ended.name, value: value))) }
    }

    // MARK: - Parts

    private mutating func add(_ control: Control) {
        guard controls.count < Self.controlLimit, control.isButton || !control.entry.name.isEmpty else { return }
        controls.append(control)
    }

    /// The form that the control's attribute names, else the enclosing form.
    private func owner(of tag: HTMLTokenizer.Tag) -> Int? {
        guard let id = value("form", of: tag) else { return open }
        return formIDs.firstIndex { $0 == id }
    }

    private func isDisabled(_ tag: HTMLTokenizer.Tag) -> Bool { tag["disabled"] != nil }

    private func value(_ name: String, of tag: HTMLTokenizer.Tag) -> String? {
        tag[name].map { resolved($0, isAttribute: true) }
    }

    private func resolved(_ range: Range<Int>, isAttribute: Bool) -> String {
        let text = (charset ?? .utf8).decode(tokenizer.bytes[range])
        return HTMLCharacterReference.resolve(text, isAttribute: isAttribute)
    }

    private static func trimmed(_ text: String) -> String {
        let isBlank = { (scalar: Unicode.Scalar) in scalar.value <= 0x20 }
        let front = text.unicodeScalars.drop(while: isBlank)
        return String(String.UnicodeScalarView(front.reversed().drop(while: isBlank).reversed()))
    }

    /// Converts line ends to CRLF. It works on bytes, since appending to a view of scalars takes linear time.
    private static func withLineEnds(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == .lineFeed || $0 == .carriageReturn }) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var last: UInt8?
        for byte in text.utf8 {
            switch byte {
            case .lineFeed: if last != .carriageReturn { bytes += [.carriageReturn, .lineFeed] }
            case .carriageReturn: bytes += [.carriageReturn, .lineFeed]
            default: bytes.append(byte)
            }
            last = byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A form of a page, with the entries that it would send unchanged (WHATWG HTML section 4.10.21.4).
    public struct Form: Sendable, Equatable {
        public struct Entry: Sendable, Equatable {
            public let name: String
            public let value: String
        }

        /// The action, resolved against the page's `base`; nil: the page's own address.
        public internal(set) var action: String?
        /// The names and values of all successful controls without user input, except buttons; then those of the first
        /// button.
        public internal(set) var entries: [Entry] = []
        /// The names of the password fields.
        public internal(set) var passwordNames: [String] = []
        /// The name of the field that most likely takes the user; nil if the form has none.
        public internal(set) var userName: String?
        /// Whether the page says by `autocomplete` that this field takes the user.
        public internal(set) var saysUserName = false
        /// The encoding of the values.
        var charset = HTMLCharset.utf8
        /// Whether the form is sent as `multipart/form-data`.
        var isMultipart = false

        /// Whether the form asks for a value of that name.
        func asks(for name: String) -> Bool {
            passwordNames.contains(name) || entries.contains { $0.name == name }
        }
    }
}
