# SPDX-License-Identifier: Apache-2.0
"""Other projects' names for what Ebb does."""
