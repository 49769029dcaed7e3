import HTTP

/// The files of the dashboard's page. They are equal for all users and contain nothing about this proxy; the page gets
/// its data by requests of a session.
enum DashboardPage {
    /// - Parameter name: the name of a file, or empty for the page itself.
    static func file(named name: String) -> AdminResponse? {
        guard let (type, content) = files[name] else { return nil }
        return AdminResponse(status: .ok, contentType: type, body: content)
    }

    private static let script = "text/javascript; charset=utf-8"

    private static let files: [String: (type: String, content: String)] = [
        "": ("text/html; charset=utf-8", text(PackageResources.index_html)),
        "dashboard.css": ("text/css; charset=utf-8", text(PackageResources.dashboard_css)),
        "main.js": (script, text(PackageResources.main_js)),
        "session.js": (script, text(PackageResources.session_js)),
        "elements.js": (script, text(PackageResources.elements_js)),
        "parts.js": (script, text(PackageResources.parts_js)),
        "charts.js": (script, text(PackageResources.charts_js)),
        "sections.js": (script, text(PackageResources.sections_js)),
        "overview.js": (script, text(PackageResources.overview_js)),
        "requests.js": (script, text(PackageResources.requests_js)),
        "questions.js": (script, text(PackageResources.questions_js)),
        "challenges.js": (script, text(PackageResources.challenges_js)),
        "credentials.js": (script, text(PackageResources.credentials_js)),
        "certificates.js": (script, text(PackageResources.certificates_js)),
        "parents.js": (script, text(PackageResources.parents_js)),
        "expiries.js": (script, text(PackageResources.expiries_js)),
        "keys.js": (script, text(PackageResources.keys_js)),
    ]

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
