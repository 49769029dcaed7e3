import Testing

@testable import Authentication

@Suite struct HTMLFormReaderTests {
    private func entries(_ html: String, contentType: String? = "text/html; charset=utf-8") -> [String] {
        HTMLFormReader.forms(in: Array(html.utf8), contentType: contentType).flatMap { form in
            form.entries.map { "\($0.name)=\($0.value)" }
        }
    }

    @Test(arguments: [
        // What is not touched is sent as it stands.
        ("<input name=a value=1><input type=hidden name=b value='2 3'>", ["a=1", "b=2 3"]),
        ("<INPUT TYPE=\"Hidden\" NAME=\"t\" VALUE=\"x\" />", ["t=x"]),
        ("<input name=a><input name=b value>", ["a=", "b="]),
        ("<input type=checkbox name=a checked><input type=checkbox name=b>", ["a=on"]),
        ("<input type=radio name=a value=1><input type=radio name=a value=2 checked>", ["a=2"]),
        ("<input name=a value=1 disabled><input value=2><input name='' value=3>", []),
        ("<input type=file name=a><input type=reset name=b><input type=button name=c value=d>", []),
        // A button goes last, and only the first.
        (
            "<input type=submit name=go value=Go><button name=b value=2>x</button><input name=a value=1>",
            ["a=1", "go=Go"]
        ),
        ("<button type=button name=b></button><button name=c value=3></button>", ["c=3"]),
        ("<input type=image name=i src=x><button name=c></button>", []),
        // Choices.
        ("<select name=s><option value=1>a<option value=2>b</select>", ["s=1"]),
        ("<select name=s><option value=1>a</option><option selected> two  words </option></select>", ["s=two words"]),
        ("<select name=s multiple><option>a<option selected>b<option selected>c</select>", ["s=b", "s=c"]),
        ("<select name=s><option disabled value=0>-<option value=1>a</select><select name=t></select>", ["s=1"]),
        // Text.
        ("<textarea name=t>\none\ntwo <b>&amp;</b></textarea>", ["t=one\r\ntwo <b>&</b>"]),
        ("<textarea name=t></textarea><input name=a value='x\ny'>", ["t=", "a=x\r\ny"]),
        // Text that is not markup, or is not meant as such.
        ("<!-- <input name=a> --><script>'<input name=b>'</script><style><input name=c></style>", []),
        (
            "<!--><input name=a value=1><!---><input name=b value=2><!-- x --!><input name=c value=3>",
            ["a=1", "b=2", "c=3"]
        ),
        ("<!DOCTYPE html><?php <x> ?><input name=a value=1></><input name=b value=2>", ["a=1", "b=2"]),
        ("a < b <input name=a value=1", ["a=1</form"]),
        ("<input name=a value=\"1>", []),
        ("<input name=a name=b value=1 value=2>", ["a=1"]),
        ("<input/name=a/ value=1><input =x name=c value=/d/>", ["a/=1", "c=/d/"]),
        ("<title><input name=a></title><script>x</scriptx><input name=b></script ><input name=c value=1>", ["c=1"]),
        // Character references.
        (
            "<input name=a value='&amp;&lt;&#65;&#x42;&quot;&apos;&eacute;&#128;&#0;&bogus;'>",
            ["a=&<AB\"'é€\u{FFFD}&bogus;"]
        ),
        ("<input name=a value='?x=1&copy=2&amp=3&ampx;&amp'>", ["a=?x=1&copy=2&amp=3&ampx;&"]),
        ("<input name=a value='&plus;&#61;&#x3D&equals;&#xFFFFFFFFFF;'>", ["a=+===\u{FFFD}"]),
    ])
    func `a form sends what a browser would`(controls: String, expected: [String]) {
        #expect(entries("<p><form>\(controls)</form>") == expected)
    }

    @Test func `controls belong to the form that they name or stand in`() {
        let html = """
            <input name=outside value=0><form id=a action=/a><input name=x value=1><form action=/b><input name=y value=2>
            </form><input name=z form=a value=3><input name=n form=none value=4>
            <form action=/c><input name=q type=password></form>
            """
        let forms = HTMLFormReader.forms(in: Array(html.utf8))
        #expect(forms.map(\.action) == ["/a", "/c"])
        #expect(forms.map { $0.entries.map(\.name) } == [["x", "y", "z"], ["q"]])
        #expect(forms.map(\.passwordNames) == [[], ["q"]])
    }

    @Test(arguments: [
        ("", "x.php", "x.php"), ("/app/", "x.php?a=1", "/app/x.php?a=1"), ("/app/index", "x", "/app/x"),
        ("https://h/app/", "x", "https://h/app/x"), ("//h", "x", "//h/x"), ("/app/", "/y", "/y"),
        ("/app/", "https://other/z", "https://other/z"), ("/app/?q", "?r", "/app/?r"),
    ])
    func `an action is relative to the base`(base: String, action: String, expected: String) {
        let html = (base.isEmpty ? "" : "<base href='\(base)'>") + "<form action=' \(action) '></form>"
        #expect(HTMLFormReader.forms(in: Array(html.utf8)).map(\.action) == [expected])
    }

    @Test(arguments: [
        (nil, "", "UTF-8"), ("text/html; charset=\"ISO-8859-1\"", "", "windows-1252"),
        (nil, "<meta charset=latin1>", "windows-1252"), ("text/html;charset=utf8", "<meta charset=latin1>", "UTF-8"),
        (nil, "<meta http-equiv=Content-Type content='text/html; charset=windows-1252'>", "windows-1252"),
    ])
    func `the charset is the header's, else the page's`(header: String?, meta: String, expected: String) {
        let page = Array("\(meta)<form><input type=hidden name=_charset_><input name=a value='".utf8)
        let forms = HTMLFormReader.forms(in: page + [0xC3, 0xA9] + Array("'></form>".utf8), contentType: header)
        let value = expected == "UTF-8" ? "é" : "Ã©"
        #expect(forms.first?.entries.map(\.value) == [expected, value])
    }

    @Test func `accept-charset says how values are sent`() {
        let page = Array("<form accept-charset='iso-8859-1 utf-8'><input name=a value='é€漢'></form>".utf8)
        let form = HTMLFormReader.forms(in: page).first
        #expect(form?.charset == .windows1252)
        #expect(form?.charset.encode("é€漢") == [0xE9, 0x80] + Array("&#28450;".utf8))
    }

    @Test func `a page without end is read within the limits`() {
        let controls = String(repeating: "<input name=a value=1>", count: 100)
        let html = String(repeating: "<form>\(controls)</form>", count: 40)
        let forms = HTMLFormReader.forms(in: Array(html.utf8))
        #expect(forms.count == 32)
        #expect(forms.reduce(0) { $0 + $1.entries.count } == 512)
    }

    /// Invariant: a page costs what it is long. Each was read in quadratic time once, or could be.
    @Test(
        .timeLimit(.minutes(30)),
        arguments: [
            ("<textarea name=a>", "\n"), ("<textarea name=a>", "\r"), ("<textarea name=a>", "&amp;&Yuml;&frac34;x"),
            ("<input name=a value='", "\n"), ("<select name=a><option>", "&x<b>"), ("<p>", "<"), ("<!--", "--"),
            ("<script>", "</scrip"), ("<input ", "a=b "),
        ])
    func `a page is read as fast as it is long`(start: String, part: String) {
        let page = "<form>" + start + String(repeating: part, count: 1_000_000 / part.utf8.count)
        let forms = HTMLFormReader.forms(in: Array((page + "'></textarea>").utf8))
        #expect(forms.count == 1)
    }

    @Test func `line ends are sent as browsers send them`() {
        let forms = HTMLFormReader.forms(in: Array("<form><textarea name=a>\n\na\r\nb\rc\n\r\r\n</textarea>".utf8))
        #expect(forms.first?.entries.map(\.value) == ["\r\na\r\nb\r\nc\r\n\r\n\r\n"])
    }

    @Test(arguments: [
        "<", "</", "<!", "<!-", "<!--", "<a", "<a ", "<a b", "<a b=", "<a b='", "<textarea name=a", "<form",
    ])
    func `a page that breaks off has no more forms`(end: String) {
        let forms = HTMLFormReader.forms(in: Array("<form action=/a></form>\(end)".utf8))
        #expect(forms.map(\.action) == ["/a"])
    }

    @Test(arguments: [
        (#"<input name=q type=search><input name=u type=email><input name=p type=password><input name=z>"#, "u"),
        (#"<input name=u autocomplete="section-a username"><input name=code><input name=p type=password>"#, "u"),
        (#"<input name=p type=password><input name=u autocomplete=username>"#, "u"),
        (#"<input type=hidden name=h><input name=n type=number><input name=p type=password>"#, nil),
    ]) func `the field for the user is told by its type and its place`(page: String, user: String?) throws {
        let form = try #require(HTMLFormReader.forms(in: Array("<form>\(page)</form>".utf8)).first)
        #expect(form.userName == user)
        #expect(form.passwordNames == ["p"])
    }
}
