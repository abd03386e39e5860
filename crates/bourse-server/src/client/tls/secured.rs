//! Encrypted connections, by rustls.

use super::{SslMode, TlsOptions};
use bourse_engine::{EngineError, ErrorKind, Result};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    StreamOwned,
};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

/// An encrypted stream.
#[derive(Debug)]
pub struct SecuredStream(Box<StreamOwned<ClientConnection, TcpStream>>);

impl SecuredStream {
    /// Encrypts a connection to that host, and checks the server's certificate as the options require.
    ///
    /// # Errors
    /// A file that cannot be used, a certificate that is refused, or a lost connection.
    pub fn start(mut stream: TcpStream, host: &str, options: &TlsOptions) -> Result<Self> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| EngineError::unsupported(format!("invalid host name for TLS: '{host}'")))?;
        let mut connection = ClientConnection::new(Arc::new(config(options)?), name)
            .map_err(|e| EngineError::new(ErrorKind::Other, format!("TLS cannot be begun: {e}")))?;
        while connection.is_handshaking() {
            connection.complete_io(&mut stream).map_err(|e| match certificate_error(&e) {
                Some(words) => EngineError::new(ErrorKind::Other, words),
                None => EngineError::new(ErrorKind::ConnectionLost, format!("TLS was broken off: {e}")),
            })?;
        }
        Ok(Self(Box::new(StreamOwned::new(connection, stream))))
    }

    /// Protocol and cipher in use.
    pub fn in_use(&self) -> String {
        let protocol = match self.0.conn.protocol_version() {
            Some(rustls::ProtocolVersion::TLSv1_3) => "TLSv1.3".to_owned(),
            Some(rustls::ProtocolVersion::TLSv1_2) => "TLSv1.2".to_owned(),
            other => format!("{other:?}"),
        };
        let cipher = self.0.conn.negotiated_cipher_suite().map(|it| format!("{:?}", it.suite())).unwrap_or_default();
        format!("{protocol} {cipher}")
    }
}

impl Read for SecuredStream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl Write for SecuredStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Implements [`super::certificate_error`].
pub(super) fn certificate_error(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let chain = std::iter::successors(Some(error), |error| error.source());
    let error = chain.into_iter().find_map(|error| {
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        error.downcast_ref::<Error>().or_else(|| inner?.downcast_ref::<Error>())
    })?;
    Some(match error {
        Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "the server's certificate does not come from the authority in 'sslrootcert'; name the file of its authority, or \
             check who answers there"
                .to_owned()
        }
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => format!("the server's certificate is not for this host: {error}; sslmode=verify-ca does not ask for that"),
        Error::InvalidCertificate(_) => format!("the server's certificate cannot be accepted: {error}"),
        Error::AlertReceived(_) => {
            format!("the server has refused TLS: {error}; it may ask for a certificate ('sslcert', 'sslkey')")
        }
        other => format!("TLS has failed: {other}"),
    })
}

fn config(options: &TlsOptions) -> Result<ClientConfig> {
    let failed = |e: Error| EngineError::new(ErrorKind::Other, format!("TLS cannot be set up: {e}"));
    let provider = Arc::new(ring::default_provider());
    let roots = match &options.root {
        Some(path) if options.checks_authority() => Some(roots(path)?),
        _ => None,
    };
    let verifier = CertificateVerifier {
        authorities: match roots {
            Some(roots) => Some(
                WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
                    .build()
                    .map_err(|e| EngineError::new(ErrorKind::Other, format!("'sslrootcert' cannot be used: {e}")))?,
            ),
            None => None,
        },
        checks_host: options.mode == SslMode::VerifyFull,
        provider: provider.clone(),
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(failed)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    match (&options.certificate, &options.key) {
        (Some(certificate), Some(key)) => {
            let key = PrivateKeyDer::from_pem_file(key).map_err(|e| unusable(key, &e))?;
            builder.with_client_auth_cert(certificates(certificate)?, key).map_err(failed)
        }
        _ => Ok(builder.with_no_client_auth()),
    }
}

fn unusable(path: &Path, e: &dyn std::fmt::Display) -> EngineError {
    EngineError::new(ErrorKind::Other, format!("cannot use {}: {e}", path.display()))
}

/// Certificates of a file.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(found) if found.is_empty() => Err(unusable(path, &"there is no certificate in it")),
        read => read.map_err(|e| unusable(path, &e)),
    }
}

fn roots(path: &Path) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(|e| unusable(path, &e))?;
    }
    Ok(roots)
}

/// Verifier of a server's certificate: always checks that the server has its key, and the rest as the options require.
#[derive(Debug)]
struct CertificateVerifier {
    authorities: Option<Arc<WebPkiServerVerifier>>,
    checks_host: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for CertificateVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(authorities) = &self.authorities else { return Ok(ServerCertVerified::assertion()) };
        match authorities.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The name is what is looked at last.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.checks_host => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
