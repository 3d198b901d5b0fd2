//! Test that the gateway refuses an identity header without the proxy secret: such a header did not come from the auth
//! proxy.

use http::StatusCode;
use http::header::HOST;
use launcher_domain::identity::{PROOF_HEADER, ProxySecret};
use launcher_fleet::Fleet;
use launcher_workshop::Phase;

use crate::gateway::{IDENTITY, echo, listen};
use crate::support::{Home, OWNER, custom, in_time, wait_for};

#[tokio::test]
async fn identity_without_proxy_secret_is_refused() {
    const SECRET: &str = "0123456789abcdef0123456789abcdef";
    const OTHER: &str = "fedcba9876543210fedcba9876543210";
    let mut home = Home::new();
    home.settings.machine.origins.proxy_secret = Some(ProxySecret::parse(&format!("{OTHER}\n{SECRET}\n")).unwrap());
    let fleet = home.open();
    let address = listen(&fleet).await;
    fleet.apply(&echo("lab-a")).await.unwrap();
    fleet.apply(&custom("lab-starting", &["sleep", "1000"])).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let ask = async |name: &str, proofs: &[&str]| {
        let request = reqwest::Client::new().get(format!("http://{address}/"));
        let request = request.header(HOST, format!("{name}.localhost:8000")).header(IDENTITY, OWNER);
        let request = proofs.iter().fold(request, |request, proof| request.header(PROOF_HEADER, *proof));
        in_time(request.send()).await.unwrap()
    };

    for proofs in [&[][..], &[""], &["forged"], &[&SECRET[1..]], &[SECRET, SECRET]] {
        for name in ["lab-a", "lab-starting"] {
            assert_eq!(ask(name, proofs).await.status(), StatusCode::FORBIDDEN, "{name} with {proofs:?}");
        }
    }
    for secret in [SECRET, OTHER] {
        let answer = ask("lab-a", &[secret]).await;
        assert_eq!(answer.status(), StatusCode::OK);
        let head = answer.text().await.unwrap().to_ascii_lowercase();
        assert!(!head.contains("x-auth-request") && !head.contains(secret), "the app does not see it: {head}");
    }
    assert_eq!(ask("lab-starting", &[SECRET]).await.status(), StatusCode::SERVICE_UNAVAILABLE);
    fleet.stop().await;
}
