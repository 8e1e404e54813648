import { renderSVG } from 'uqr';
import type { Enrolment } from '../operators/second-factor.js';
import { renderCodeField, renderCsrfField, renderProblem } from './form.js';
import { html, type Html } from '../shared/html.js';

/** The form that shows an authenticator app its secret, and asks for a code of it. */
export function renderEnrolmentForm(form: {
  enrolment: Enrolment;
  csrf: string;
  message: string | null;
}): Html {
  const { enrolment, csrf, message } = form;
  // Our own text made into rectangles: nothing of it is anybody's input.
  const picture: Html = { html: renderSVG(enrolment.uri, { border: 2 }) };
  return html`<form class="card login" method="post" action="/admin/login/enrol">
    <h1>Set up the second factor</h1>
    ${renderProblem(message)}
    <p>Scan this with an authenticator app, or type the key in. Then give the code that it shows.</p>
    <div class="qr" role="img" aria-label="QR code of the key below">${picture}</div>
    <p class="quiet">Key: <code>${enrolment.secret.match(/.{1,4}/g)?.join(' ') ?? ''}</code></p>
    ${renderCsrfField(csrf)} ${renderCodeField('code', 'Code of the app')}
    <button>Confirm</button>
  </form>`;
}

/** Shown once: nobody, not even we, can show them again. */
export function renderRecoveryCodes(codes: string[]): Html {
  return html`<div class="card">
    <h1>Recovery codes</h1>
    <p>
      <strong>They are shown this once.</strong> Each logs you in once when the app is lost. Keep them where
      the phone is not.
    </p>
    <ul class="codes">
      ${codes.map((code) => html`<li><code>${code}</code></li>`)}
    </ul>
    <p><a href="/admin">I have kept them: to the console</a></p>
  </div>`;
}
