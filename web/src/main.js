// SPDX-License-Identifier: Apache-2.0
import './page.css';

const data = JSON.parse(document.getElementById('document').textContent);
const heading = document.createElement('h1');
heading.textContent = data.title;
document.body.append(heading);
