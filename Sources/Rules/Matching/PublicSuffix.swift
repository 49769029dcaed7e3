extension HostPattern {
    /// The domain below which anyone may register a name, where the pattern stands for all names below it.
    var publicSuffix: String? {
        guard case .suffix(let end) = form else { return nil }
        let domain = String(decoding: end.dropFirst(), as: UTF8.self)
        return PublicSuffix.contains(domain) ? domain : nil
    }
}

/// The most common of the public suffixes. It warns, and decides nothing: the whole list (publicsuffix.org) changes weekly.
enum PublicSuffix {
    static func contains(_ domain: String) -> Bool {
        let labels = domain.split(separator: ".", omittingEmptySubsequences: false)
        switch labels.count {
        case 1: return generic.contains(domain) || countries.contains(domain)
        case 2:
            return hosting.contains(domain)
                || countries.contains(String(labels[1])) && secondLevel.contains(String(labels[0]))
        default: return false
        }
    }

    private static func words(_ text: String) -> Set<String> { Set(text.split(separator: " ").map(String.init)) }

    private static let generic = words(
        """
        app art biz blog cloud club com dev edu email fun gov group host icu info int life live ltd mil mobi name net \
        network news one online org page pro shop site solutions space store studio systems tech team today top \
        website wiki work world xyz zone
        """)

    /// ISO 3166-1, and what is used like it.
    private static let countries = words(
        """
        ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz ca cc \
        cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga \
        gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp \
        ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms \
        mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro \
        rs ru rw sa sb sc sd se sg sh si sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt \
        tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw
        """)

    /// Before a country: co.uk, com.au.
    private static let secondLevel = words("ac co com edu gob gov gouv gv ltd me mil ne net nom or org plc sch")

    /// Where everyone who pays has a name of his own.
    private static let hosting = words(
        """
        appspot.com azurewebsites.net cloudfront.net firebaseapp.com fly.dev github.io gitlab.io herokuapp.com \
        netlify.app ngrok.io onrender.com pages.dev vercel.app web.app workers.dev
        """)
}
