import os

DEBUG = True
SECRET_KEY = "of a test"
ROOT_URLCONF = "urls"
MIDDLEWARE = ["django.middleware.common.CommonMiddleware", "django.middleware.csrf.CsrfViewMiddleware"]
# SETTINGS
